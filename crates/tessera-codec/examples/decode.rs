//! Decodes a picture to PNG: `cargo run --release --features image --example decode -- photo.tsr photo.png`

use std::error::Error;
use std::{env, fs};
use tessera_codec::{Decoder, image_io::to_dynamic_image};

fn main() -> Result<(), Box<dyn Error>> {
    let [input, output] = [1, 2].map(|at| {
        env::args()
            .nth(at)
            .expect("name a .tsr file and a .png file")
    });
    let coded = Decoder::new().open(fs::File::open(input)?)?;
    let picture = coded.decode()?;
    println!("{} x {} pixels", picture.width(), picture.height());
    to_dynamic_image(picture).save(output)?;
    Ok(())
}
