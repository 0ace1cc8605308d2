//! Our lines in ImageMagick's `delegates.xml`, which may hold lines of others.

use anyhow::{Result, bail};

const BEGIN: &str = "  <!-- tessera desktop install: begin -->\n";
const END: &str = "  <!-- tessera desktop install: end -->\n";
const HEAD: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<delegatemap>\n";
const FOOT: &str = "</delegatemap>\n";

/// The file with our lines for the command at `program`.
///
/// # Errors
/// If it is no list of delegates.
pub(super) fn added(before: Option<&str>, program: &str) -> Result<String> {
    let before = before
        .and_then(removed)
        .unwrap_or_else(|| format!("{HEAD}{FOOT}"));
    let Some(at) = before.rfind(FOOT.trim_end()) else {
        bail!("this is no list of ImageMagick's delegates (no </delegatemap>); mend it first");
    };
    let (head, foot) = before.split_at(at);
    Ok(format!("{head}{}{foot}", block(program)))
}

/// The file without our lines; `None` if nothing is left of it.
pub(super) fn removed(text: &str) -> Option<String> {
    let kept = match (text.find(BEGIN), text.find(END)) {
        (Some(begin), Some(end)) if begin < end => {
            format!("{}{}", &text[..begin], &text[end + END.len()..])
        }
        _ => text.to_owned(),
    };
    (kept != format!("{HEAD}{FOOT}")).then_some(kept)
}

/// ImageMagick has made the output already, under a name that does not tell its format.
fn block(program: &str) -> String {
    let program = escaped(program);
    let quoted = |arguments: &str| format!("&quot;{program}&quot; {arguments}");
    let file = |name: &str| format!("&quot;{name}&quot;");
    let (input, output) = (file("%i"), file("%o"));
    let decode = quoted(&format!(
        "decode --quiet --force --format png {input} -o {output}"
    ));
    let encode = quoted(&format!("encode --quiet --force {input} -o {output}"));
    format!(
        "{BEGIN}  <delegate decode=\"tsr\" command=\"{decode}\"/>\n  \
         <delegate decode=\"png\" encode=\"tsr\" command=\"{encode}\"/>\n{END}"
    )
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_others_stay() {
        let theirs = "<delegatemap>\n  <delegate decode=\"xyz\"/>\n</delegatemap>\n";
        let both = added(Some(theirs), "/usr/bin/tessera").unwrap();
        assert!(both.contains("xyz") && both.contains("decode=\"tsr\""));
        assert_eq!(removed(&both).as_deref(), Some(theirs));
        let moved = added(Some(&both), "/opt/a & b/tessera").unwrap();
        assert_eq!(moved.matches("decode=\"tsr\"").count(), 1);
        assert!(moved.contains("&quot;/opt/a &amp; b/tessera&quot;"));
        assert!(added(Some("<other/>"), "tessera").is_err());
    }

    #[test]
    fn a_file_of_our_own_goes_altogether() {
        let ours = added(None, "tessera").unwrap();
        assert_eq!(removed(&ours), None);
        assert_eq!(added(Some(&ours), "tessera").unwrap(), ours);
    }
}
