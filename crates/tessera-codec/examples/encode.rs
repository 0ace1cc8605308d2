//! Encodes a picture in any common format: `cargo run --release --features image --example encode -- photo.png photo.tsr`

use std::error::Error;
use std::{env, fs};
use tessera_codec::{Encoder, image_io::read_picture};

fn main() -> Result<(), Box<dyn Error>> {
    let [input, output] =
        [1, 2].map(|at| env::args().nth(at).expect("name a picture and a .tsr file"));
    let picture = read_picture(&fs::read(input)?)?;
    let encoded = Encoder::new()
        .quality(80)
        .encode_to(&picture, fs::File::create(output)?)?;
    println!(
        "{} bytes, {:.2} dB",
        encoded.bytes.len(),
        encoded.psnr().unwrap_or_default()
    );
    Ok(())
}
