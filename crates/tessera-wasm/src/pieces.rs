//! A file of which only some parts are here, as it is while it arrives.

use std::io::{self, Read, Seek, SeekFrom};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The start of a file, pieces of it that stay, and one that changes.
#[derive(Debug, Default)]
struct Pieces {
    start: Vec<u8>,
    kept: Vec<(usize, Vec<u8>)>,
    place: usize,
    piece: Vec<u8>,
}

/// A reader of the pieces that are here; what is not is an unexpected end. Copies share their pieces.
#[derive(Clone, Debug)]
pub(crate) struct PieceReader {
    pieces: Arc<Mutex<Pieces>>,
    len: u64,
    position: u64,
}

impl PieceReader {
    /// A file that starts so and will have `len` bytes in the end.
    pub(crate) fn new(start: Vec<u8>, len: usize) -> Self {
        let pieces = Pieces {
            start,
            ..Pieces::default()
        };
        Self {
            pieces: Arc::new(Mutex::new(pieces)),
            len: len as u64,
            position: 0,
        }
    }

    /// Keeps no more of the start than this.
    pub(crate) fn cut_start(&self, len: usize) {
        let mut pieces = self.lock();
        pieces.start.truncate(len);
        pieces.start.shrink_to_fit();
    }

    /// Puts a piece at its place in the file for good.
    pub(crate) fn keep(&self, place: usize, piece: Vec<u8>) {
        self.lock().kept.push((place, piece));
    }

    /// Puts a piece at its place in the file, instead of the one before.
    pub(crate) fn set_piece(&self, place: usize, piece: Vec<u8>) {
        let mut pieces = self.lock();
        (pieces.place, pieces.piece) = (place, piece);
    }

    fn lock(&self) -> MutexGuard<'_, Pieces> {
        self.pieces.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Pieces {
    /// What is here from a position on.
    fn at(&self, position: usize) -> &[u8] {
        let kept = self.kept.iter().map(|(place, piece)| (*place, piece));
        let pieces = [(0, &self.start), (self.place, &self.piece)];
        let mut here = pieces.into_iter().chain(kept).filter_map(|(place, piece)| {
            let part = piece.get(position.checked_sub(place)?..)?;
            (!part.is_empty()).then_some(part)
        });
        here.next().unwrap_or(&[])
    }
}

impl Read for PieceReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let position = usize::try_from(self.position).map_err(io::Error::other)?;
        let read = self.lock().at(position).read(buffer)?;
        self.position += read as u64;
        Ok(read)
    }
}

impl Seek for PieceReader {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let place = match to {
            SeekFrom::Start(place) => Some(place),
            SeekFrom::End(offset) => self.len.checked_add_signed(offset),
            SeekFrom::Current(offset) => self.position.checked_add_signed(offset),
        };
        self.position = place.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.position)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_is_here_and_nothing_else() {
        let mut reader = PieceReader::new(vec![0, 1, 2], 9);
        assert_eq!(reader.seek(SeekFrom::End(0)).unwrap(), 9);
        let mut read = |from: u64, len: usize| {
            let mut buffer = vec![0; len];
            reader.seek(SeekFrom::Start(from)).unwrap();
            reader.read_exact(&mut buffer).map(|()| buffer)
        };
        assert_eq!(read(1, 2).unwrap(), [1, 2]);
        assert_eq!(read(1, 3).unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
        let mut reader = reader.clone();
        reader.keep(7, vec![7]);
        reader.set_piece(5, vec![5, 6]);
        let mut two = [0; 2];
        reader.seek(SeekFrom::Start(5)).unwrap();
        reader.read_exact(&mut two).unwrap();
        assert_eq!(two, [5, 6]);
        assert!(reader.read_exact(&mut two).is_err());
        reader.set_piece(0, Vec::new());
        reader.seek(SeekFrom::Start(7)).unwrap();
        assert_eq!(reader.read(&mut two).unwrap(), 1);
        assert_eq!(two[0], 7);
        reader.seek(SeekFrom::Start(4)).unwrap();
        assert!(reader.read_exact(&mut two).is_err());
    }
}
