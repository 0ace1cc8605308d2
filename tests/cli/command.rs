//! The `tessera` command in a folder of its own, as the tests of the command run it.

use image::DynamicImage;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;
use tempfile::TempDir;

pub(crate) const USAGE: i32 = 2;
pub(crate) const DAMAGED: i32 = 3;
pub(crate) const DICTIONARY: i32 = 4;
pub(crate) const INCOMPLETE: i32 = 6;

/// A folder with the pictures a test needs.
pub(crate) struct Folder(pub(crate) TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Writes a small RGB picture and returns its path.
    pub(crate) fn picture(&self, name: &str) -> PathBuf {
        let path = self.path(name);
        small_picture().save(&path).unwrap();
        path
    }

    pub(crate) fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.0.path()).unwrap();
        let mut names: Vec<String> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }
}

/// Wider than high, and different in every corner.
pub(crate) fn small_picture() -> DynamicImage {
    let pixel = |x: u32, y: u32| image::Rgb([(x * 10) as u8, (y * 20) as u8, 90]);
    image::RgbImage::from_fn(20, 12, pixel).into()
}

pub(crate) fn tessera(args: &[&Path]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_tessera"))
        .args(args)
        .output()
        .unwrap()
}

/// Runs a command line in which `{}` stands for the next path.
pub(crate) fn run(line: &str, paths: &[&Path]) -> Output {
    let mut paths = paths.iter();
    let args: Vec<&Path> = line
        .split_whitespace()
        .map(|word| match word {
            "{}" => *paths.next().unwrap(),
            _ => Path::new(word),
        })
        .collect();
    tessera(&args)
}

pub(crate) fn succeed(line: &str, paths: &[&Path]) -> Output {
    let output = run(line, paths);
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{line}: {message}");
    output
}

/// Asserts the exit code and that the message names what the user should know.
pub(crate) fn fail(line: &str, paths: &[&Path], code: i32, says: &str) {
    let output = run(line, paths);
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{line}: {message}");
    assert!(message.contains(says), "{line}: {message}");
}

/// Runs a command with `input` on its standard input; it must succeed.
pub(crate) fn pipe(args: &[&str], input: &[u8]) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_tessera"))
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input).unwrap();
    let output = child.wait_with_output().unwrap();
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{args:?}: {message}");
    output
}

/// Moments at which processes are killed, the same in every run.
pub(crate) struct Moments(u32);

impl Moments {
    pub(crate) fn new() -> Self {
        Self(12345)
    }

    /// Starts a command and kills it within 130 ms.
    pub(crate) fn kill(&mut self, command: &mut Command) {
        self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let mut child = command.stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_micros(u64::from(self.0 >> 15)));
        // It may have finished already; then there is nothing to kill.
        let _finished = child.kill();
        child.wait().unwrap();
    }
}
