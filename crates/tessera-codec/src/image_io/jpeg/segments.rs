//! The marker segments of a JPEG, and whether all of its picture is there: decoders fill what is
//! missing with gray and say nothing.

use crate::image_io::error::{INCONSISTENT, ReadImageError};
use crate::image_io::jpeg::JPEG;
use crate::image_io::jpeg::bits::{Broken, HuffmanTable};
use crate::image_io::jpeg::markers::{APP14, DHT, DRI, EOI, SOI, SOS, is_frame_header, is_restart};
use crate::image_io::jpeg::scan::{self, Component, Frame, Scan, ScanComponent, Tables};

/// What the segments say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Facts {
    pub(super) width: u32,
    pub(super) height: u32,
    pub(super) components: usize,
    /// Whether Adobe's marker is there.
    pub(super) adobe: bool,
}

const DAMAGED: ReadImageError = ReadImageError::Damaged(JPEG, INCONSISTENT);

/// Walks all segments and all scans.
pub(super) fn check(file: &[u8]) -> Result<Facts, ReadImageError> {
    let rest = file.strip_prefix(&[0xFF, SOI]).ok_or(DAMAGED)?;
    let mut checker = Checker {
        rest,
        frame: None,
        tables: Tables::default(),
        restart: 0,
        adobe: false,
    };
    let ended = checker.segments()?;
    let frame = checker
        .frame
        .as_ref()
        .ok_or(ReadImageError::Truncated(JPEG))?;
    let started = |c: &Component| c.pending[0].is_some();
    let finished = |c: &Component| c.pending.iter().all(|pending| *pending == Some(0));
    // Without its end a progressive file may lack the scans that make it sharp.
    let complete = match ended {
        true => frame.components.iter().all(started),
        false => frame.components.iter().all(finished),
    };
    if !complete {
        return Err(ReadImageError::Truncated(JPEG));
    }
    Ok(Facts {
        width: frame.width as u32,
        height: frame.height as u32,
        components: frame.components.len(),
        adobe: checker.adobe,
    })
}

struct Checker<'a> {
    rest: &'a [u8],
    frame: Option<Frame>,
    tables: Tables,
    restart: usize,
    adobe: bool,
}

impl<'a> Checker<'a> {
    /// Reads up to the end marker; false if there is none.
    fn segments(&mut self) -> Result<bool, ReadImageError> {
        while let Some(marker) = self.next_marker() {
            match marker {
                EOI => return Ok(true),
                SOI | 0x01 => continue,
                marker if is_restart(marker) => continue,
                _ => {}
            }
            let Some(segment) = self.take_segment() else {
                return Ok(false);
            };
            match marker {
                DHT => self.add_tables(segment).ok_or(DAMAGED)?,
                DRI => self.restart = number(segment, 0).ok_or(DAMAGED)?,
                APP14 => self.adobe |= segment.starts_with(b"Adobe"),
                SOS => self.scan(segment)?,
                marker if is_frame_header(marker) => self.start_frame(marker, segment)?,
                _ => {}
            }
        }
        Ok(false)
    }

    /// Skips fill bytes and junk and returns the marker code.
    fn next_marker(&mut self) -> Option<u8> {
        let is_marker = |p: &[u8]| p[0] == 0xFF && p[1] != 0xFF && p[1] != 0;
        let at = self.rest.windows(2).position(is_marker)?;
        let marker = self.rest[at + 1];
        self.rest = &self.rest[at + 2..];
        Some(marker)
    }

    /// The content of a segment, without its two length bytes.
    fn take_segment(&mut self) -> Option<&'a [u8]> {
        let len = number(self.rest, 0)?;
        let segment = self.rest.get(2..len)?;
        self.rest = &self.rest[len..];
        Some(segment)
    }

    fn add_tables(&mut self, mut segment: &[u8]) -> Option<()> {
        while let [place, rest @ ..] = segment {
            let counts: &[u8; 16] = rest.first_chunk()?;
            let len = counts
                .iter()
                .map(|&count| usize::from(count))
                .sum::<usize>();
            let symbols = rest.get(16..16 + len)?;
            let tables = match place >> 4 {
                0 => &mut self.tables.dc,
                _ => &mut self.tables.ac,
            };
            *tables.get_mut(usize::from(place & 15))? = HuffmanTable::new(counts, symbols);
            segment = &rest[16 + len..];
        }
        Some(())
    }

    fn start_frame(&mut self, marker: u8, segment: &[u8]) -> Result<(), ReadImageError> {
        let rare = match marker {
            0xC0..=0xC2 => None,
            0xC3 => Some("lossless coding"),
            0xC9..=0xCB => Some("arithmetic coding"),
            _ => Some("hierarchical coding"),
        };
        if let Some(rare) = rare {
            return Err(ReadImageError::variant(JPEG, rare));
        }
        if self.frame.is_some() || !matches!(segment.first(), Some(8 | 12)) {
            return Err(DAMAGED);
        }
        if segment[0] == 12 {
            return Err(ReadImageError::variant(JPEG, "samples of 12 bits"));
        }
        self.frame = Some(frame(marker == 0xC2, segment).ok_or(DAMAGED)?);
        Ok(())
    }

    fn scan(&mut self, segment: &[u8]) -> Result<(), ReadImageError> {
        let frame = self.frame.as_mut().ok_or(DAMAGED)?;
        let scan = scan_header(frame, segment).ok_or(DAMAGED)?;
        let walked = scan::walk(self.rest, frame, &scan, &self.tables, self.restart);
        self.rest = walked.map_err(|broken| match broken {
            Broken::Missing => ReadImageError::Truncated(JPEG),
            Broken::Invalid => ReadImageError::Damaged(JPEG, "codes in it are not in its tables"),
        })?;
        for part in &scan.components {
            let pending = &mut frame.components[part.index].pending;
            pending[scan.band.0..=scan.band.1].fill(Some(scan.low));
        }
        Ok(())
    }
}

fn number(bytes: &[u8], at: usize) -> Option<usize> {
    let pair = bytes.get(at..)?.first_chunk()?;
    Some(usize::from(u16::from_be_bytes(*pair)))
}

fn frame(progressive: bool, segment: &[u8]) -> Option<Frame> {
    let (height, width) = (number(segment, 1)?, number(segment, 3)?);
    let count = usize::from(*segment.get(5)?);
    if !(1..=4).contains(&count) || width == 0 || height == 0 {
        return None;
    }
    let component = |entry: &[u8; 3]| {
        let (h, v) = (usize::from(entry[1] >> 4), usize::from(entry[1] & 15));
        let sensible = (1..=4).contains(&h) && (1..=4).contains(&v);
        sensible.then_some(Component {
            id: entry[0],
            // A single component is not interleaved, whatever its factors say.
            h: if count == 1 { 1 } else { h },
            v: if count == 1 { 1 } else { v },
            nonzero: Vec::new(),
            pending: [None; 64],
        })
    };
    let entries = segment.get(6..6 + 3 * count)?.as_chunks().0.iter();
    let mut frame = Frame {
        progressive,
        width,
        height,
        components: entries.map(component).collect::<Option<_>>()?,
    };
    if progressive {
        let (across, down) = frame.units();
        for component in &mut frame.components {
            component.nonzero = vec![0; across * component.h * down * component.v];
        }
    }
    Some(frame)
}

fn scan_header(frame: &Frame, segment: &[u8]) -> Option<Scan> {
    let count = usize::from(*segment.first()?);
    let parts = segment.get(1..1 + 2 * count)?.as_chunks::<2>().0;
    let part = |[id, tables]: &[u8; 2]| {
        let tables = (usize::from(tables >> 4), usize::from(tables & 15));
        Some(ScanComponent {
            index: frame.components.iter().position(|c| c.id == *id)?,
            dc: Some(tables.0).filter(|&table| table < 4)?,
            ac: Some(tables.1).filter(|&table| table < 4)?,
        })
    };
    let components: Vec<_> = parts.iter().map(part).collect::<Option<_>>()?;
    let [first, last, bits] = *segment.get(1 + 2 * count..)?.first_chunk()?;
    // A sequential scan holds all coefficients, whatever the bytes for progressive ones say.
    let (band, high, low) = match frame.progressive {
        true => (
            (usize::from(first), usize::from(last)),
            bits >> 4,
            bits & 15,
        ),
        false => ((0, 63), 0, 0),
    };
    let sensible = band.0 <= band.1
        && band.1 < 64
        && !components.is_empty()
        && (!frame.progressive || (band.0 == 0) == (band.1 == 0))
        && (band.0 == 0 || components.len() == 1);
    sensible.then_some(Scan {
        components,
        band,
        high,
        low,
    })
}
