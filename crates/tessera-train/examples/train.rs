//! Learns a dictionary from a folder of pictures within ten minutes:
//!
//! ```text
//! cargo run --release -p tessera-train --example train -- FOLDER OUTPUT.tsd
//! ```

use std::error::Error;
use std::time::Duration;
use tessera_train::{Stage, TrainObserver, Trainer};

/// Tells every validation; a progress bar would listen to all.
struct Narrator;

impl TrainObserver for Narrator {
    fn progress(&mut self, _: Stage, _: usize, _: usize) {}

    fn validated(&mut self, change: f64) {
        println!("held-out pictures: {:+.1} % bits", 100.0 * change);
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder, output] = &arguments[..] else {
        return Err("usage: train FOLDER OUTPUT.tsd".into());
    };
    let trained = Trainer::new([folder])
        .time(Duration::from_secs(600))
        .observer(&mut Narrator)
        .train()?;
    std::fs::write(output, trained.dictionary.to_bytes())?;
    println!("{output}: learned from {} pictures", trained.training.len());
    Ok(())
}
