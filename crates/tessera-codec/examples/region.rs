//! Decodes a part of a picture without reading the rest, and the whole as a thumbnail:
//! `cargo run --release --features image --example region -- photo.tsr part.png small.png`

use std::error::Error;
use std::{env, fs};
use tessera_codec::{Decoder, Rect, Scale, image_io::to_dynamic_image};

fn main() -> Result<(), Box<dyn Error>> {
    let [input, part, small] = [1, 2, 3].map(|at| {
        env::args()
            .nth(at)
            .expect("name a .tsr file and two .png files")
    });
    let coded = Decoder::new().open(fs::File::open(input)?)?;
    let Rect { width, height, .. } = coded.rect();
    let (x, y) = (width / 4, height / 4);
    let middle = Rect {
        x,
        y,
        width: width.div_ceil(2),
        height: height.div_ceil(2),
    };
    to_dynamic_image(coded.decode_region(middle)?).save(part)?;
    to_dynamic_image(coded.decode_scaled(Scale::MaxSide(256))?).save(small)?;
    Ok(())
}
