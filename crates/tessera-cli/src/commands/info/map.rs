//! `tessera info --map`: the sparse code of a picture drawn over it.

use crate::exit::Usage;
use crate::{files, pictures};
use anyhow::{Context, Result, bail};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use std::fmt::Write;
use std::path::Path;
use tessera_codec::internals::tile::trace::{Event, LeafRecord, PatchCode, Trace};
use tessera_codec::{Decoder, Source};
use tessera_dict::PlaneKind;
use tessera_eval::image8::Image8;

/// The first direction; modes before it are planar and mean.
const FIRST_DIRECTION: usize = 2;
/// The first direction that comes from above.
const FIRST_FROM_ABOVE: usize = 18;
/// Displacement of the directions over 32 samples, as `spec/bitstream.md` has it.
const DISPLACEMENTS: [f32; 33] = [
    32.0, 26.0, 21.0, 17.0, 13.0, 9.0, 5.0, 2.0, 0.0, -2.0, -5.0, -9.0, -13.0, -17.0, -21.0, -26.0,
    -32.0, -26.0, -21.0, -17.0, -13.0, -9.0, -5.0, -2.0, 0.0, 2.0, 5.0, 9.0, 13.0, 17.0, 21.0,
    26.0, 32.0,
];

/// Refuses a name that would not say what is in the file.
pub(super) fn check(output: &Path) -> Result<()> {
    if output.extension().is_none_or(|ending| ending != "svg") {
        bail!(Usage(format!(
            "{}: a map is an SVG; name a file that ends in .svg",
            output.display()
        )));
    }
    Ok(())
}

/// Draws the map of a file and tells how many patches there are of each kind.
///
/// # Errors
/// If the file is damaged or lossless, or its dictionary is not here.
pub(super) fn draw(input: &Path, dictionary: Option<&Path>) -> Result<(String, String)> {
    let named = || input.display().to_string();
    let file = files::read_input(input)?;
    let decoder = pictures::decoder_of(Source::from(&file), Decoder::new(), dictionary);
    let decoder = decoder.with_context(named)?;
    let picture = decoder.decode(&file).with_context(named)?;
    let traces = decoder.trace_leaves(&file).with_context(named)?;
    let mut map = Map::default();
    for trace in traces.iter().filter(|trace| !trace.alpha) {
        map.add_tile(trace);
    }
    let (width, height) = (picture.width(), picture.height());
    let png = Image8::from_picture(picture)?.to_png()?;
    Ok((map.to_svg(width, height, &png), map.counts()))
}

/// Outlines of the patches of luma by what they carry, and their directions.
#[derive(Debug, Default)]
struct Map {
    empty: Outlines,
    levels: Outlines,
    atoms: Outlines,
    directions: String,
}

#[derive(Debug, Default)]
struct Outlines {
    count: usize,
    path: String,
}

impl Map {
    fn add_tile(&mut self, trace: &Trace) {
        for event in &trace.events {
            if let Event::Leaf(leaf) = event
                && leaf.kind == PlaneKind::Luma
            {
                self.add(leaf, trace.origin);
            }
        }
    }

    fn add(&mut self, leaf: &LeafRecord, (left, top): (u32, u32)) {
        let (x, y) = (left as usize + leaf.x, top as usize + leaf.y);
        let (width, height) = (leaf.shape.width(), leaf.shape.height());
        let outlines = match leaf.patches[0] {
            PatchCode::Empty => &mut self.empty,
            PatchCode::Levels { .. } => &mut self.levels,
            PatchCode::Atom { .. } => &mut self.atoms,
        };
        outlines.count += 1;
        let drawn = write!(outlines.path, "M{x} {y}h{width}v{height}h-{width}z");
        drawn.expect("writing to memory does not fail");
        if leaf.reference.is_none() && leaf.mode >= FIRST_DIRECTION {
            let middle = (
                x as f32 + width as f32 / 2.0,
                y as f32 + height as f32 / 2.0,
            );
            self.add_direction(leaf.mode, middle, width.min(height) as f32);
        }
    }

    /// A line through the middle of a patch along the direction it is predicted from.
    fn add_direction(&mut self, mode: usize, (x, y): (f32, f32), side: f32) {
        let along = DISPLACEMENTS[mode - FIRST_DIRECTION] / 32.0;
        let (dx, dy) = match mode < FIRST_FROM_ABOVE {
            true => (1.0, -along),
            false => (along, -1.0),
        };
        let half = 0.3 * side / f32::hypot(dx, dy);
        let (dx, dy) = (dx * half, dy * half);
        let line = write!(
            self.directions,
            "M{:.1} {:.1}l{:.1} {:.1}",
            x - dx,
            y - dy,
            2.0 * dx,
            2.0 * dy
        );
        line.expect("writing to memory does not fail");
    }

    /// How many patches there are of each kind, for people.
    fn counts(&self) -> String {
        let [empty, levels, atoms] = [&self.empty, &self.levels, &self.atoms].map(|own| own.count);
        let share = 100.0 * atoms as f64 / (levels + atoms).max(1) as f64;
        format!(
            "luma        {} patches: {empty} predicted only, {levels} in a basis, {atoms} one free atom ({share:.1} % of those coded)\n",
            empty + levels + atoms
        )
    }

    fn to_svg(&self, width: u32, height: u32, png: &[u8]) -> String {
        let Self {
            empty,
            levels,
            atoms,
            directions,
        } = self;
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" stroke-width=\"0.4\" fill=\"none\">\n\
             <title>{}</title>\n<image width=\"{width}\" height=\"{height}\" href=\"data:image/png;base64,{}\"/>\n",
            self.counts().trim_end(),
            STANDARD.encode(png)
        );
        let kinds = [
            ("predicted only", "#ffffff", 0.0, empty),
            ("levels of a basis", "#2070ff", 0.18, levels),
            ("one free atom", "#ff8000", 0.35, atoms),
        ];
        for (what, colour, opacity, outlines) in kinds {
            svg += &format!(
                "<path stroke=\"{colour}\" fill=\"{colour}\" fill-opacity=\"{opacity}\" d=\"{}\"><title>{what}</title></path>\n",
                outlines.path
            );
        }
        svg += &format!("<path stroke=\"#ffff00\" d=\"{directions}\"/>\n</svg>\n");
        svg
    }
}
