//! Several files named on the command line: each is done, whatever becomes of the others.

use crate::exit::{self, Incomplete, Usage};
use anyhow::{Result, anyhow, bail};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// Refuses a single output for several inputs.
pub(crate) fn check_folder(inputs: &[PathBuf], output: Option<&Path>) -> Result<()> {
    if inputs.len() > 1 && output.is_some_and(|output| !output.is_dir()) {
        let message = "with several inputs the output (-o) must be an existing folder";
        bail!(Usage(message.into()));
    }
    Ok(())
}

/// The output of each input. Two inputs never go to one output.
fn outputs(
    inputs: &[PathBuf],
    output_of: impl Fn(&Path) -> Result<PathBuf>,
) -> impl Iterator<Item = (&Path, Result<PathBuf>)> {
    let mut taken: HashMap<PathBuf, &Path> = HashMap::new();
    inputs.iter().map(move |input| {
        let output = output_of(input).and_then(|output| match taken.get(&output) {
            Some(other) if !crate::files::is_standard_stream(&output) => bail!(Usage(format!(
                "{} goes to {}, and so does {}; run them one by one with -o",
                input.display(),
                output.display(),
                other.display()
            ))),
            _ => {
                taken.insert(output.clone(), input);
                Ok(output)
            }
        });
        (input.as_path(), output)
    })
}

/// Does `work` for all inputs. A single failure of a single input is returned as it is; of several
/// inputs each failure is told and the number of them returned.
pub(crate) fn for_each(
    inputs: &[PathBuf],
    output_of: impl Fn(&Path) -> Result<PathBuf>,
    mut work: impl FnMut(&Path, &Path) -> Result<()>,
) -> Result<()> {
    let mut failures = 0;
    for (input, output) in outputs(inputs, output_of) {
        let result = output.and_then(|output| work(input, &output));
        match result {
            Err(error) if inputs.len() == 1 => return Err(error),
            Err(error) => {
                eprintln!("tessera: {}", exit::message(&error));
                failures += 1;
            }
            Ok(()) => {}
        }
    }
    if failures == 0 {
        return Ok(());
    }
    Err(anyhow!(Incomplete(format!(
        "{failures} of {} files could not be done",
        inputs.len()
    ))))
}
