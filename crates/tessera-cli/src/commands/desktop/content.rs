//! What the files say that belong to us alone.

use super::places::Places;
use std::path::PathBuf;

/// Stands in every file, so that we know our own.
const MARK: &str = "Written by `tessera desktop install`";

/// There is no registered type yet.
pub(super) const MIME_TYPE: &str = "image/x-tessera";

/// True for a file that this command has written.
pub(super) fn is_ours(text: &str) -> bool {
    text.contains(MARK)
}

/// All files, for the command at `program`.
pub(super) fn files(places: &Places, program: &str) -> [(PathBuf, String); 3] {
    [
        (places.mime().join("packages/tessera.xml"), mime()),
        (
            places.thumbnailers().join("tessera.thumbnailer"),
            thumbnailer(program),
        ),
        (
            places.applications().join("tessera-view.desktop"),
            application(program),
        ),
    ]
}

fn mime() -> String {
    format!(
        r#"<?xml version="1.0" encoding="UTF-8"?>
<!-- {MARK}. -->
<mime-info xmlns="http://www.freedesktop.org/standards/shared-mime-info">
  <mime-type type="{MIME_TYPE}">
    <comment>Tessera picture</comment>
    <generic-icon name="image-x-generic"/>
    <magic priority="50">
      <match type="string" value="\xd4\x53" offset="0"/>
    </magic>
    <glob pattern="*.tsr"/>
  </mime-type>
</mime-info>
"#
    )
}

/// Thumbnailers are given a file that exists already, with a name that does not tell its format.
fn thumbnailer(program: &str) -> String {
    format!(
        "# {MARK}.
[Thumbnailer Entry]
TryExec={program}
Exec=\"{program}\" decode --quiet --force --format png --preview --max-side %s -o %o %i
MimeType={MIME_TYPE};
"
    )
}

fn application(program: &str) -> String {
    format!(
        "# {MARK}.
[Desktop Entry]
Type=Application
Name=Tessera
Comment=View Tessera pictures in the browser
TryExec={program}
Exec=\"{program}\" view --until-closed %F
Terminal=false
NoDisplay=true
Categories=Graphics;Viewer;
MimeType={MIME_TYPE};
"
    )
}
