//! Writes the drawings that tests are made with as PNM files, for other codecs: `cargo run --example drawings -- DIR`.

use std::path::PathBuf;
use tessera_codec::Samples;
use tessera_workspace::graphics::drawings;

fn main() -> std::io::Result<()> {
    let folder = PathBuf::from(std::env::args_os().nth(1).unwrap_or_else(|| ".".into()));
    for (name, picture) in drawings() {
        let Samples::U8(samples) = picture.samples() else {
            unreachable!("drawings have 8 bits");
        };
        let (magic, ending) = match picture.format().channels() {
            1 => ("P5", "pgm"),
            _ => ("P6", "ppm"),
        };
        let (width, height) = (picture.width(), picture.height());
        let mut file = format!("{magic}\n{width} {height}\n255\n").into_bytes();
        file.extend(samples);
        let path = folder
            .join(name.replace([' ', ','], "_"))
            .with_extension(ending);
        std::fs::write(path, file)?;
    }
    Ok(())
}
