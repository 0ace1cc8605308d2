//! Gives an existing dictionary free atoms, learned from a folder of pictures, and leaves its bases as they are:
//!
//! ```text
//! cargo run --release -p tessera-train --example atoms -- FOLDER OUTPUT.tsd [START.tsd [PASSES]]
//! ```
//!
//! With no passes it only adapts the models: what a dictionary with atoms is compared with.

use std::error::Error;
use std::path::PathBuf;
use std::time::Instant;
use tessera_dict::Dictionary;
use tessera_train::{FromScratchParams, Gallery, Stage, TrainObserver, add_atoms};

/// Tells when a stage begins.
struct Narrator {
    stage: Option<Stage>,
    start: Instant,
}

impl TrainObserver for Narrator {
    fn progress(&mut self, stage: Stage, _: usize, _: usize) {
        if self.stage.replace(stage) != Some(stage) {
            println!("{:6.1} s: {stage:?}", self.start.elapsed().as_secs_f64());
        }
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder, output, more @ ..] = &arguments[..] else {
        return Err("usage: atoms FOLDER OUTPUT.tsd [START.tsd [PASSES]]".into());
    };
    let start = match more.first() {
        None => Dictionary::builtin().clone(),
        Some(start) => Dictionary::from_bytes(&std::fs::read(start)?)?,
    };
    let mut params = FromScratchParams::default();
    if let Some(passes) = more.get(1) {
        params.atom_passes = passes.parse()?;
    }
    let gallery = Gallery::open(&[PathBuf::from(folder)])?.readable().0;
    let mut narrator = Narrator {
        stage: None,
        start: Instant::now(),
    };
    let learned = add_atoms(&gallery, &start, &params, &mut narrator)?;
    std::fs::write(output, learned.to_bytes())?;
    let sets = learned.luma().atoms().sets();
    for set in sets {
        println!(
            "{}x{}: {} atoms",
            set.shape.width(),
            set.shape.height(),
            set.scales.len()
        );
    }
    Ok(())
}
