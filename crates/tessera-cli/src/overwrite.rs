//! The `--force` option: what may be replaced.

use crate::exit::Usage;
use crate::files;
use anyhow::{Result, bail};
use clap::{ArgAction, Args};
use std::fs;
use std::path::Path;

/// How much an output may replace.
#[derive(Debug, Clone, Copy, Default, Args)]
pub(crate) struct OverwriteArgs {
    /// Replace outputs that exist; an output that is also an input is replaced only if this is given twice.
    #[arg(short, long, action = ArgAction::Count)]
    force: u8,
}

impl OverwriteArgs {
    /// True when other files than the inputs may be replaced.
    pub(crate) fn force(self) -> bool {
        self.force > 0
    }

    /// Refuses an output that must not be replaced, before any work is done for it.
    pub(crate) fn check<'a>(
        self,
        output: &Path,
        inputs: impl IntoIterator<Item = &'a Path>,
    ) -> Result<()> {
        let own = inputs.into_iter().any(|input| is_same(output, input));
        if own && self.force < 2 {
            bail!(Usage(format!(
                "{} is an input of this command; name another output, or use --force twice to replace it",
                output.display()
            )));
        }
        files::check_output(output, self.force())
    }
}

/// True for two names of one existing file, links followed.
fn is_same(a: &Path, b: &Path) -> bool {
    let standard = files::is_standard_stream(a) || files::is_standard_stream(b);
    let place = |path| fs::canonicalize(path).ok();
    !standard && place(a).is_some_and(|a| a.is_file() && Some(a) == place(b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn an_input_is_known_by_any_of_its_names() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        fs::write(&file, b"precious").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        let dotted = folder.path().join(".").join("file");
        for output in [&file, &link, &dotted] {
            let check = |force| OverwriteArgs { force }.check(output, [file.as_path()]);
            let message = check(1).unwrap_err().to_string();
            assert!(message.contains("--force twice"), "{message}");
            assert!(check(0).is_err() && check(2).is_ok());
        }
        let other = folder.path().join("other");
        let check = OverwriteArgs { force: 0 }.check(&other, [file.as_path()]);
        assert!(check.is_ok());
    }
}
