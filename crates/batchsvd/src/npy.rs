//! Matrices and codes as `.npy` files.

use crate::{Error, SparseCode};
use faer::{Mat, MatRef};
use npyz::{NpyFile, Order, WriterBuilder};
use std::io::{Read, Write};

/// Reads a two-dimensional array of doubles or singles, in either storage order.
///
/// # Errors
/// [`Error::Npy`] for another type or number of dimensions, [`Error::Io`] for a file that is
/// no `.npy` file or ends early.
pub fn read_mat(from: impl Read) -> Result<Mat<f64>, Error> {
    let file = NpyFile::new(from)?;
    let &[rows, columns] = file.shape() else {
        let dimensions = file.shape().len();
        return Err(Error::Npy(format!(
            "expected 2 dimensions, found {dimensions}"
        )));
    };
    let (rows, columns) = (to_size(rows)?, to_size(columns)?);
    let order = file.order();
    let values = read_values(file)?;
    if rows.checked_mul(columns) != Some(values.len()) {
        return Err(Error::Npy("the shape does not match the data".into()));
    }
    Ok(match order {
        Order::Fortran => Mat::from_fn(rows, columns, |i, j| values[j * rows + i]),
        Order::C => Mat::from_fn(rows, columns, |i, j| values[i * columns + j]),
    })
}

fn to_size(value: u64) -> Result<usize, Error> {
    usize::try_from(value).map_err(|_| Error::Npy("too large for this machine".into()))
}

/// The values of a file of doubles or singles.
fn read_values<R: Read>(file: NpyFile<R>) -> Result<Vec<f64>, Error> {
    let file = match file.try_data::<f64>() {
        Ok(values) => return Ok(values.collect::<Result<_, _>>()?),
        Err(file) => file,
    };
    match file.try_data::<f32>() {
        Ok(values) => Ok(values
            .map(|value| value.map(f64::from))
            .collect::<Result<_, _>>()?),
        Err(file) => {
            let found = file.dtype().descr();
            Err(Error::Npy(format!(
                "expected f8 or f4 values, found {found}"
            )))
        }
    }
}

/// Writes a matrix as doubles in column-major order.
///
/// # Errors
/// [`Error::Io`].
pub fn write_mat(matrix: MatRef<'_, f64>, to: impl Write) -> Result<(), Error> {
    let shape = [matrix.nrows() as u64, matrix.ncols() as u64];
    let mut writer = npyz::WriteOptions::new()
        .default_dtype()
        .order(Order::Fortran)
        .shape(&shape)
        .writer(to)
        .begin_nd()?;
    for j in 0..matrix.ncols() {
        writer.extend(matrix.col(j).iter().copied())?;
    }
    Ok(writer.finish()?)
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

    #[test]
    fn row_major_singles_are_read() {
        let mut file = Vec::new();
        let mut writer = npyz::WriteOptions::new()
            .default_dtype()
            .shape(&[2, 3])
            .writer(&mut file)
            .begin_nd()
            .unwrap();
        writer.extend([1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0]).unwrap();
        writer.finish().unwrap();
        let matrix = read_mat(&file[..]).unwrap();
        assert_eq!((matrix[(0, 2)], matrix[(1, 0)]), (3.0, 4.0));
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
