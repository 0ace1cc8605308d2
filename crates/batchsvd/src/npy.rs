//! Matrices and codes as `.npy` files.

mod header;

use crate::{Error, SparseCode};
use faer::{Mat, MatRef};
use header::{Header, Type};
use std::io::{Read, Write};

/// Reads a two-dimensional array of doubles or singles, in either storage order.
///
/// # Errors
/// [`Error::Npy`] for another type or number of dimensions and for a file that is no `.npy` file or ends early,
/// [`Error::Io`] if reading fails.
pub fn read_mat(mut from: impl Read) -> Result<Mat<f64>, Error> {
    let header = Header::read(&mut from)?;
    let &[rows, columns] = &header.shape[..] else {
        let dimensions = header.shape.len();
        return Err(Error::Npy(format!(
            "expected 2 dimensions, found {dimensions}"
        )));
    };
    let values = read_values(from, rows, columns, header.kind)?;
    Ok(match header.column_major {
        true => Mat::from_fn(rows, columns, |i, j| values[j * rows + i]),
        false => Mat::from_fn(rows, columns, |i, j| values[i * columns + j]),
    })
}

/// What follows the header, up to the size the shape tells; no more memory is taken than there is data.
fn read_values(
    from: impl Read,
    rows: usize,
    columns: usize,
    kind: Type,
) -> Result<Vec<f64>, Error> {
    let size = (rows.checked_mul(columns)).and_then(|count| count.checked_mul(kind.bytes()));
    let size = size.ok_or_else(|| Error::Npy("too large for this machine".into()))?;
    let mut bytes = Vec::new();
    from.take(size as u64).read_to_end(&mut bytes)?;
    if bytes.len() < size {
        return Err(Error::Npy("the file ends before its data does".into()));
    }
    Ok(kind.values(&bytes))
}

/// Writes a matrix as doubles in column-major order.
///
/// # Errors
/// [`Error::Io`].
pub fn write_mat(matrix: MatRef<'_, f64>, mut to: impl Write) -> Result<(), Error> {
    let header = Header {
        kind: Type::DOUBLE,
        column_major: true,
        shape: vec![matrix.nrows(), matrix.ncols()],
    };
    to.write_all(&header.to_bytes())?;
    for j in 0..matrix.ncols() {
        let column = matrix.col(j).iter().flat_map(|value| value.to_le_bytes());
        to.write_all(&column.collect::<Vec<u8>>())?;
    }
    Ok(())
}

/// Writes a code as one row `(sample, atom, amplitude)` per entry.
///
/// # Errors
/// [`Error::Io`].
pub fn write_code(code: &SparseCode, to: impl Write) -> Result<(), Error> {
    let mut rows = Vec::with_capacity(code.nonzeros());
    for sample in 0..code.count() {
        rows.extend(
            code.entries(sample)
                .map(|(atom, value)| [sample as f64, atom as f64, value]),
        );
    }
    write_mat(Mat::from_fn(rows.len(), 3, |i, j| rows[i][j]).as_ref(), to)
}

/// Reads what [`write_code`] wrote, for `samples` samples over `atoms` atoms.
///
/// # Errors
/// As [`read_mat`], and [`Error::Npy`] for entries that are out of range or out of order.
pub fn read_code(from: impl Read, atoms: usize, samples: usize) -> Result<SparseCode, Error> {
    let rows = read_mat(from)?;
    if rows.ncols() != 3 {
        return Err(Error::Npy(format!(
            "expected 3 columns, found {}",
            rows.ncols()
        )));
    }
    let mut code = SparseCode::new(atoms);
    let mut at = 0;
    for sample in 0..samples {
        let mut entries = Vec::new();
        while at < rows.nrows() && index(rows[(at, 0)])? == sample {
            entries.push((index(rows[(at, 1)])?, rows[(at, 2)]));
            at += 1;
        }
        code.push(&entries)?;
    }
    if at < rows.nrows() {
        return Err(Error::Npy(
            "samples are out of range or out of order".into(),
        ));
    }
    Ok(code)
}

/// A whole non-negative number.
fn index(value: f64) -> Result<usize, Error> {
    let whole = (0.0..=u32::MAX as f64).contains(&value) && value.fract().abs() <= 0.0;
    if whole {
        Ok(value as usize)
    } else {
        Err(Error::Npy(format!("{value} is not an index")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::random_mat;

    #[test]
    fn matrices_survive() {
        let matrix = random_mat(4, 3, 1);
        let mut file = Vec::new();
        write_mat(matrix.as_ref(), &mut file).unwrap();
        assert_eq!(read_mat(&file[..]).unwrap(), matrix);
        assert!(read_mat(&file[..file.len() - 1]).is_err());
        assert!(read_mat(&b"not numpy"[..]).is_err());
    }

    /// A file as NumPy writes it.
    fn numpy(head: &str, data: &[u8]) -> Vec<u8> {
        let mut file = b"\x93NUMPY\x01\0".to_vec();
        file.extend((head.len() as u16).to_le_bytes());
        [&file, head.as_bytes(), data].concat()
    }

    #[test]
    fn row_major_singles_are_read() {
        let values = [1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0];
        for (descr, data) in [
            ("<f4", values.map(f32::to_le_bytes).concat()),
            (">f4", values.map(f32::to_be_bytes).concat()),
            (">f8", values.map(|v| f64::from(v).to_be_bytes()).concat()),
        ] {
            let head =
                format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': (2, 3), }}  \n");
            let matrix = read_mat(&numpy(&head, &data)[..]).unwrap();
            assert_eq!((matrix[(0, 2)], matrix[(1, 0)]), (3.0, 4.0), "{descr}");
        }
    }

    #[test]
    fn what_is_no_matrix_of_floats_is_refused() {
        let refused = |head: &str, says: &str| {
            let error = read_mat(&numpy(head, &[0; 16])[..])
                .unwrap_err()
                .to_string();
            assert!(error.contains(says), "{head}: {error}");
        };
        let head = |descr: &str, shape: &str| {
            format!("{{'descr': {descr}, 'fortran_order': True, 'shape': {shape}, }}\n")
        };
        refused(&head("'<i4'", "(2, 2)"), "found '<i4'");
        refused(&head("[('a', '<f8')]", "(2, 1)"), "found [('a', '<f8')]");
        refused(&head("'<f8'", "(2,)"), "expected 2 dimensions, found 1");
        refused(
            &head("'<f8'", "(2, 1, 1)"),
            "expected 2 dimensions, found 3",
        );
        refused(&head("'<f8'", "(2, -1)"), "no shape");
        refused(&head("'<f8'", "(3, 1)"), "ends before");
        refused(&head("'<f8'", "(4294967296, 4294967296)"), "too large");
        refused("{'descr': '<f8', 'shape': (2, 1), }", "fortran_order");
    }

    #[test]
    fn codes_survive() {
        let mut code = SparseCode::new(5);
        code.push(&[(1, 0.5), (4, -2.0)]).unwrap();
        code.push(&[]).unwrap();
        code.push(&[(0, 0.0)]).unwrap();
        let mut file = Vec::new();
        write_code(&code, &mut file).unwrap();
        assert_eq!(read_code(&file[..], 5, 3).unwrap(), code);
        assert!(read_code(&file[..], 4, 3).is_err());
        assert!(read_code(&file[..], 5, 2).is_err());
    }
}
