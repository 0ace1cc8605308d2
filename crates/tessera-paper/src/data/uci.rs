//! The UCI tables: comma-separated values with a header line and the class in the last column.

use super::DataDir;
use crate::error::PaperError;
use faer::Mat;
use std::path::Path;

/// What stands for a missing value; rows with one are dropped, as the paper does.
const MISSING_VALUE: &str = "?";

/// Loads `NAME.csv`: one sample per row, without the class column, scaled to unit norm, not centred.
pub(crate) fn load_uci(data: &DataDir, name: &str) -> Result<Mat<f64>, PaperError> {
    let path = data.file("uci", &format!("{name}.csv"))?;
    let text = std::fs::read_to_string(&path).map_err(|error| PaperError::io(&path, error))?;
    parse_samples(&path, &text)
}

fn parse_samples(path: &Path, text: &str) -> Result<Mat<f64>, PaperError> {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let header = reader
        .headers()
        .map_err(|error| PaperError::garbled(path, error))?;
    let features = header.len().saturating_sub(1);
    if header.iter().next_back() != Some("class") || features == 0 {
        return Err(PaperError::garbled(
            path,
            "the header's last column must be 'class'",
        ));
    }
    let mut values = Vec::new();
    for (row, record) in reader.records().enumerate() {
        let record = record.map_err(|error| PaperError::garbled(path, error))?;
        let line = row + 2;
        if let Some(sample) = parse_sample(path, line, &record, features)? {
            values.extend(unit(path, line, sample)?);
        }
    }
    if values.is_empty() {
        return Err(PaperError::garbled(path, "it holds no complete sample"));
    }
    let count = values.len() / features;
    Ok(super::matrix(features, count, &values))
}

/// The features of one row, or nothing if one of them is missing.
fn parse_sample(
    path: &Path,
    line: usize,
    record: &csv::StringRecord,
    features: usize,
) -> Result<Option<Vec<f64>>, PaperError> {
    let cells = || record.iter().take(features).map(str::trim);
    if cells().any(|cell| cell == MISSING_VALUE) {
        return Ok(None);
    }
    let number = |cell: &str| {
        cell.parse::<f64>()
            .ok()
            .filter(|value| value.is_finite())
            .ok_or_else(|| {
                PaperError::garbled(path, format!("line {line}: '{cell}' is not a number"))
            })
    };
    cells().map(number).collect::<Result<_, _>>().map(Some)
}

fn unit(path: &Path, line: usize, mut sample: Vec<f64>) -> Result<Vec<f64>, PaperError> {
    let norm = sample.iter().map(|value| value * value).sum::<f64>().sqrt();
    if norm <= 0.0 || !norm.is_finite() {
        return Err(PaperError::garbled(
            path,
            format!("line {line}: the sample has no direction to scale to"),
        ));
    }
    sample.iter_mut().for_each(|value| *value /= norm);
    Ok(sample)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drops_class_and_incomplete_rows_and_scales_to_unit_norm() {
        let samples =
            parse_samples(Path::new("t.csv"), "a,b,class\n3,4,x\n?,1,y\n0,-2,z\n").unwrap();
        assert_eq!((samples.nrows(), samples.ncols()), (2, 2));
        let expected = [0.6, 0.8, 0.0, -1.0];
        for (index, expected) in expected.into_iter().enumerate() {
            assert!((samples[(index % 2, index / 2)] - expected).abs() < 1e-15);
        }
    }

    #[test]
    fn errors_name_file_and_line() {
        for (text, needle) in [
            ("a,b,class\n1,2,x\n1,oops,y\n", "line 3: 'oops'"),
            ("a,b,class\n0,0,x\n", "line 2"),
            ("a,b,class\n1,2\n", "fields"),
            ("a,b,c\n1,2,3\n", "'class'"),
            ("a,class\n?,x\n", "no complete sample"),
            ("", "'class'"),
        ] {
            let message = parse_samples(Path::new("dir/t.csv"), text)
                .unwrap_err()
                .to_string();
            assert!(
                message.contains("dir/t.csv") && message.contains(needle),
                "{message}"
            );
        }
    }
}
