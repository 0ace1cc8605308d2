//! Modules of JavaScript joined to one script, for a page that has to work from a disk, where modules cannot be imported.
//!
//! Enough for our own modules, and no more: imports stand alone on a line and name what they import, nothing is renamed,
//! and no two modules use one name at their top level (the browser refuses the page if they do).

use super::read;
use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};

/// Joins a module and all it imports, each once and before whoever needs it. `replaced` gives the text of modules that are
/// not to be read, by the ends of their paths.
pub(super) fn bundle(entry: &Path, replaced: &[(&str, &str)]) -> Result<String> {
    let mut bundle = Bundle {
        replaced,
        seen: Vec::new(),
        script: String::new(),
    };
    bundle.add(entry)?;
    Ok(bundle.script)
}

struct Bundle<'a> {
    replaced: &'a [(&'a str, &'a str)],
    seen: Vec<PathBuf>,
    script: String,
}

impl Bundle<'_> {
    fn add(&mut self, path: &Path) -> Result<()> {
        if self.seen.iter().any(|seen| seen == path) {
            return Ok(());
        }
        self.seen.push(path.to_owned());
        let own = self.replaced.iter().find(|(end, _)| path.ends_with(end));
        let text = match own {
            Some((_, text)) => (*text).to_owned(),
            None => read(path)?,
        };
        let mut body = String::new();
        for line in text.lines() {
            if let Some(imported) = imported(line) {
                let folder = path.parent().context("a module lies in a folder")?;
                self.add(&folder.join(imported))?;
            } else if let Some(kept) = without_export(line) {
                body.push_str(kept);
                body.push('\n');
            }
        }
        if body.contains("import.meta") {
            bail!(
                "{} asks where it lies, which a page has no answer to",
                path.display()
            );
        }
        self.script.push_str(&body);
        Ok(())
    }
}

/// The file that a line imports.
fn imported(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("import ")?;
    let (_, file) = rest
        .rsplit_once('\'')
        .map(|(rest, _)| rest)?
        .split_once('\'')?;
    file.strip_prefix("./")
        .or(file.starts_with("../").then_some(file))
}

/// A line as it stands in a script; lists of exports are left out.
fn without_export(line: &str) -> Option<&str> {
    match line.strip_prefix("export ") {
        Some(rest) if rest.starts_with('{') => None,
        Some(rest) => Some(rest),
        None => Some(line),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_modules_are_told_apart() {
        assert_eq!(imported("import { a, b } from './c.js';"), Some("c.js"));
        assert_eq!(imported("import './c.js';"), Some("c.js"));
        assert_eq!(
            imported("import { a } from '../d/c.js';"),
            Some("../d/c.js")
        );
        assert_eq!(imported("const x = import('node:fs');"), None);
        assert_eq!(
            without_export("export function a() {"),
            Some("function a() {")
        );
        assert_eq!(without_export("export { a };"), None);
        assert_eq!(without_export("  const x = 1;"), Some("  const x = 1;"));
    }
}
