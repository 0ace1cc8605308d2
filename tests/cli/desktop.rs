//! `tessera desktop`: what is written for file managers and ImageMagick, and that all of it goes again.

use crate::command::{Folder, USAGE};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const FILES: [&str; 4] = [
    "data/mime/packages/tessera.xml",
    "data/thumbnailers/tessera.thumbnailer",
    "data/applications/tessera-view.desktop",
    "config/ImageMagick/delegates.xml",
];

/// Runs the command for a user whose folders are all below `home`.
fn desktop(home: &Folder, words: &str) -> (Output, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_tessera"))
        .arg("desktop")
        .args(words.split(' '))
        .env("HOME", home.0.path())
        .env("XDG_DATA_HOME", home.path("data"))
        .env("XDG_CONFIG_HOME", home.path("config"))
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    (output, said)
}

fn text(home: &Folder, name: &str) -> String {
    fs::read_to_string(home.path(name)).unwrap()
}

fn is_installed(tool: &str) -> bool {
    Command::new(tool).arg("--version").output().is_ok()
}

/// All files below a folder.
fn files_below(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    let paths = entries.map(|entry| entry.unwrap().path());
    paths
        .flat_map(|path| match path.is_dir() {
            true => files_below(&path),
            false => vec![path],
        })
        .collect()
}

#[test]
fn what_is_installed_can_be_taken_back() {
    let home = Folder::new();
    let (output, said) = desktop(&home, "install --dry-run");
    assert!(output.status.success());
    assert_eq!(files_below(home.0.path()), [] as [PathBuf; 0], "a dry run");
    for file in FILES {
        assert!(said.contains(&format!("would write {}", home.path(file).display())));
    }
    let (output, said) = desktop(&home, "install");
    assert!(output.status.success());
    for file in FILES {
        assert!(said.contains(&format!("wrote {}", home.path(file).display())));
        assert!(
            text(&home, file).contains("tessera desktop install"),
            "{file}"
        );
    }
    if is_installed("update-mime-database") {
        let globs = text(&home, "data/mime/globs2");
        assert!(globs.contains("image/x-tessera:*.tsr"), "{globs}");
        let magic = fs::read(home.path("data/mime/magic")).unwrap();
        assert!(magic.windows(4).any(|at| at == [0, 2, 0xD4, 0x53]));
    }
    assert_eq!(desktop(&home, "install").1, "nothing to do\n");
    let (output, said) = desktop(&home, "uninstall");
    assert!(output.status.success() && said.contains("removed"));
    for file in FILES {
        assert!(!home.path(file).exists(), "{file}");
    }
    assert_eq!(desktop(&home, "uninstall").1, "nothing to do\n");
}

#[test]
fn files_of_others_stay() {
    let home = Folder::new();
    let thumbnailer = home.path(FILES[1]);
    fs::create_dir_all(thumbnailer.parent().unwrap()).unwrap();
    fs::write(&thumbnailer, "theirs").unwrap();
    let delegates = home.path(FILES[3]);
    fs::create_dir_all(delegates.parent().unwrap()).unwrap();
    let theirs = "<delegatemap>\n<delegate decode=\"x\"/>\n</delegatemap>\n";
    fs::write(&delegates, theirs).unwrap();

    let (output, _) = desktop(&home, "install");
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(USAGE), "{message}");
    assert!(message.contains("tessera.thumbnailer") && message.contains("--force"));
    assert_eq!(files_below(home.0.path()).len(), 2, "nothing was written");
    desktop(&home, "uninstall");
    assert_eq!(text(&home, FILES[1]), "theirs");

    assert!(desktop(&home, "install --force").0.status.success());
    assert!(text(&home, FILES[3]).contains("decode=\"x\""));
    desktop(&home, "uninstall");
    assert_eq!(text(&home, FILES[3]), theirs);
    assert!(!thumbnailer.exists(), "replaced, and then ours");
}

/// Thumbnailers and ImageMagick name an output that exists, without an ending.
#[test]
fn the_lines_of_the_files_work() {
    let home = Folder::new();
    let picture = home.picture("small.png");
    let coded = home.path("small.tsr");
    let encoded = Command::new(env!("CARGO_BIN_EXE_tessera"))
        .arg("encode")
        .args([&picture, &"-o".into(), &coded])
        .output()
        .unwrap();
    assert!(encoded.status.success());
    desktop(&home, "install");
    let entry = text(&home, FILES[1]);
    let line = entry.lines().find_map(|line| line.strip_prefix("Exec="));
    let out = home.path("made already");
    fs::write(&out, b"").unwrap();
    let line = line
        .unwrap()
        .replace("%i", &format!("'{}'", coded.display()))
        .replace("%o", &format!("'{}'", out.display()))
        .replace("%s", "10");
    let made = Command::new("sh").args(["-c", &line]).output().unwrap();
    assert!(made.status.success(), "{made:?}");
    let thumbnail = image::load_from_memory(&fs::read(out).unwrap()).unwrap();
    assert_eq!((thumbnail.width(), thumbnail.height()), (10, 6));
}
