//! Walks the codes of one scan without decoding pixels, to see whether every block is there.

use crate::image_io::jpeg::bits::{Bits, Broken, HuffmanTable};
use crate::image_io::jpeg::markers::is_restart;

/// One colour component of the frame.
#[derive(Debug, Clone)]
pub(super) struct Component {
    pub(super) id: u8,
    /// Blocks of this component in each direction of a minimum coded unit.
    pub(super) h: usize,
    pub(super) v: usize,
    /// For progressive files: which coefficients of each block are not zero so far.
    pub(super) nonzero: Vec<u64>,
    /// Lowest bit that is still to come for each coefficient; none while nothing was coded.
    pub(super) pending: [Option<u8>; 64],
}

/// The picture as its frame header describes it.
#[derive(Debug, Clone)]
pub(super) struct Frame {
    pub(super) progressive: bool,
    pub(super) width: usize,
    pub(super) height: usize,
    pub(super) components: Vec<Component>,
}

impl Frame {
    fn largest(&self) -> (usize, usize) {
        let largest = |side: fn(&Component) -> usize| self.components.iter().map(side).max();
        (largest(|c| c.h).unwrap_or(1), largest(|c| c.v).unwrap_or(1))
    }

    /// Minimum coded units of an interleaved scan.
    pub(super) fn units(&self) -> (usize, usize) {
        let (h, v) = self.largest();
        (self.width.div_ceil(8 * h), self.height.div_ceil(8 * v))
    }

    /// Blocks of one component that a scan of its own holds.
    fn blocks(&self, index: usize) -> (usize, usize) {
        let (h, v) = self.largest();
        let component = &self.components[index];
        let across = (self.width * component.h).div_ceil(h).div_ceil(8);
        (across, (self.height * component.v).div_ceil(v).div_ceil(8))
    }
}

/// What a scan header says of one component: its place in the frame and its tables.
pub(super) struct ScanComponent {
    pub(super) index: usize,
    pub(super) dc: usize,
    pub(super) ac: usize,
}

/// A scan header.
pub(super) struct Scan {
    pub(super) components: Vec<ScanComponent>,
    /// First and last coefficient.
    pub(super) band: (usize, usize),
    /// Bit positions: of the scan before, and of this one.
    pub(super) high: u8,
    pub(super) low: u8,
}

/// Huffman tables by their number.
#[derive(Default)]
pub(super) struct Tables {
    pub(super) dc: [Option<HuffmanTable>; 4],
    pub(super) ac: [Option<HuffmanTable>; 4],
}

/// Reads one scan and returns what follows it.
pub(super) fn walk<'a>(
    data: &'a [u8],
    frame: &mut Frame,
    scan: &Scan,
    tables: &Tables,
    restart: usize,
) -> Result<&'a [u8], Broken> {
    let interleaved = scan.components.len() > 1;
    let (across, down) = match scan.components.as_slice() {
        [only] => frame.blocks(only.index),
        _ => frame.units(),
    };
    let mut walker = Walker {
        bits: Bits::new(data),
        scan,
        tables,
        end_of_band: 0,
    };
    for unit in 0..across * down {
        if restart != 0 && unit != 0 && unit % restart == 0 {
            walker.restart()?;
        }
        let (x, y) = (unit % across, unit / across);
        walker.unit(frame, x, y, interleaved)?;
    }
    Ok(walker.bits.rest())
}

struct Walker<'a, 'b> {
    bits: Bits<'a>,
    scan: &'b Scan,
    tables: &'b Tables,
    /// Blocks that are still without further coefficients of the band.
    end_of_band: u32,
}

impl Walker<'_, '_> {
    fn restart(&mut self) -> Result<(), Broken> {
        let rest = self.bits.rest();
        match rest {
            [_, marker, after @ ..] if is_restart(*marker) => self.bits = Bits::new(after),
            _ => return Err(Broken::Missing),
        }
        self.end_of_band = 0;
        Ok(())
    }

    fn unit(&mut self, frame: &mut Frame, x: usize, y: usize, many: bool) -> Result<(), Broken> {
        let (units, _) = frame.units();
        let scan = self.scan;
        for part in &scan.components {
            let component = &mut frame.components[part.index];
            let (h, v) = match many {
                true => (component.h, component.v),
                false => (1, 1),
            };
            let stride = units * component.h;
            for block in 0..h * v {
                let at = (y * v + block / h) * stride + x * h + block % h;
                if frame.progressive {
                    self.progressive(part, &mut component.nonzero[at])?;
                } else {
                    self.sequential(part)?;
                }
            }
        }
        Ok(())
    }

    fn sequential(&mut self, part: &ScanComponent) -> Result<(), Broken> {
        self.first_dc(part)?;
        let table = self.tables.ac[part.ac].as_ref().ok_or(Broken::Invalid)?;
        let mut k = 1;
        while k < 64 {
            let symbol = self.bits.symbol(table)?;
            match (symbol >> 4, symbol & 15) {
                (15, 0) => k += 16,
                (_, 0) => return Ok(()),
                (run, size) => {
                    k += usize::from(run) + 1;
                    self.bits.skip(u32::from(size))?;
                }
            }
        }
        Ok(())
    }

    fn first_dc(&mut self, part: &ScanComponent) -> Result<(), Broken> {
        let table = self.tables.dc[part.dc].as_ref().ok_or(Broken::Invalid)?;
        let size = self.bits.symbol(table)?;
        match size {
            0..=16 => self.bits.skip(u32::from(size)),
            _ => Err(Broken::Invalid),
        }
    }

    fn progressive(&mut self, part: &ScanComponent, nonzero: &mut u64) -> Result<(), Broken> {
        match (self.scan.band.0, self.scan.high) {
            (0, 0) => self.first_dc(part),
            (0, _) => self.bits.skip(1),
            (_, 0) => self.first_band(part, nonzero),
            _ => self.refined_band(part, nonzero),
        }
    }

    fn first_band(&mut self, part: &ScanComponent, nonzero: &mut u64) -> Result<(), Broken> {
        if self.end_of_band > 0 {
            self.end_of_band -= 1;
            return Ok(());
        }
        let table = self.tables.ac[part.ac].as_ref().ok_or(Broken::Invalid)?;
        let (mut k, last) = self.scan.band;
        while k <= last {
            let symbol = self.bits.symbol(table)?;
            match (symbol >> 4, symbol & 15) {
                (15, 0) => k += 16,
                (run, 0) => {
                    self.end_of_band = (1 << run) - 1 + self.bits.take(u32::from(run))?;
                    return Ok(());
                }
                (run, size) => {
                    k += usize::from(run);
                    self.bits.skip(u32::from(size))?;
                    *nonzero |= 1u64.checked_shl(k as u32).unwrap_or(0);
                    k += 1;
                }
            }
        }
        Ok(())
    }

    fn refined_band(&mut self, part: &ScanComponent, nonzero: &mut u64) -> Result<(), Broken> {
        let table = self.tables.ac[part.ac].as_ref().ok_or(Broken::Invalid)?;
        let (mut k, last) = self.scan.band;
        while k <= last && self.end_of_band == 0 {
            let symbol = self.bits.symbol(table)?;
            let (mut run, size) = (symbol >> 4, symbol & 15);
            match (run, size) {
                (15, 0) => {}
                (_, 0) => {
                    self.end_of_band = (1 << run) + self.bits.take(u32::from(run))?;
                    break;
                }
                (_, 1) => self.bits.skip(1)?,
                _ => return Err(Broken::Invalid),
            }
            // Every coefficient that is known already has one more bit.
            while k <= last {
                if *nonzero >> k & 1 == 1 {
                    self.bits.skip(1)?;
                } else if run == 0 {
                    *nonzero |= u64::from(size) << k;
                    k += 1;
                    break;
                } else {
                    run -= 1;
                }
                k += 1;
            }
        }
        if self.end_of_band > 0 {
            let known = (k..=last).filter(|k| *nonzero >> k & 1 == 1).count();
            (0..known).try_for_each(|_| self.bits.skip(1))?;
            self.end_of_band -= 1;
        }
        Ok(())
    }
}
