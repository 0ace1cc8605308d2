//! Decodes a file again and again on one thread, natively, for `benches/wasm.mjs` to compare with: prints the milliseconds of
//! the processor for each time, and the pixels.
//!
//!     cargo run --release --example native_decode -- FILE.tsr [TIMES]

use cpu_time::ProcessTime;
use std::env;
use std::error::Error;
use std::fs;
use tessera_codec::Decoder;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args().skip(1);
    let file = arguments.next().ok_or("name a .tsr file")?;
    let times = arguments.next().map_or(Ok(5), |times| times.parse())?;
    let file = fs::read(file)?;
    let decoder = Decoder::new().threads(1);
    for _ in 0..times {
        let start = ProcessTime::now();
        let picture = decoder.decode(&file)?;
        let seconds = start.elapsed().as_secs_f64();
        println!("{:.3} {}", 1000.0 * seconds, picture.pixels());
    }
    Ok(())
}
