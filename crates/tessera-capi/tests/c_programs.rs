//! The library as C programs meet it: compiled by the C compiler, linked both ways, watched by valgrind.
//!
//! In CI compiler and valgrind must be there; elsewhere tests without them are skipped aloud.

#![cfg(target_os = "linux")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const HERE: &str = env!("CARGO_MANIFEST_DIR");
/// What a Rust library needs of the system when it is linked statically.
const SYSTEM: [&str; 5] = ["-lgcc_s", "-lutil", "-lpthread", "-lm", "-ldl"];

/// Whether a tool is there; in CI it must be.
fn installed(tool: &str) -> bool {
    let found = Command::new(tool).arg("--version").output().is_ok();
    if !found {
        assert!(std::env::var_os("CI").is_none(), "{tool} is not installed");
        println!("skipped: {tool} is not installed");
    }
    found
}

/// Where cargo has put the libraries: beside this test.
fn library(ending: &str) -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let folder = test.parent().unwrap();
    let newest = |path: &PathBuf| fs::metadata(path).and_then(|meta| meta.modified()).unwrap();
    let files = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let ours = files.filter(|path| {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let stem = name.strip_suffix(ending).unwrap_or_default();
        stem == "libtessera" || stem.starts_with("libtessera-")
    });
    ours.max_by_key(newest)
        .unwrap_or_else(|| panic!("no libtessera{ending} in {}", folder.display()))
}

fn run(command: &mut Command) -> Output {
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {said}");
    output
}

/// Compiles a program of this folder and links it with `library`.
fn compile(program: &str, library: &Path, folder: &Path) -> PathBuf {
    let out = folder.join(program);
    run(Command::new("cc")
        .args([
            "-std=c99",
            "-pedantic",
            "-Wall",
            "-Wextra",
            "-Werror",
            "-g",
            "-I",
        ])
        .arg(Path::new(HERE).join("include"))
        .arg(Path::new(HERE).join("tests").join(format!("{program}.c")))
        .arg(library)
        .args(SYSTEM)
        .arg("-o")
        .arg(&out));
    out
}

/// Runs a program under valgrind: a bad access or a leak is a failure.
fn watched(program: &Path) -> String {
    let output = run(Command::new("valgrind")
        .args(["--quiet", "--error-exitcode=99", "--leak-check=full"])
        .args([
            "--errors-for-leak-kinds=definite,indirect",
            "--show-leak-kinds=definite,indirect",
        ])
        .arg(program)
        .env("LD_LIBRARY_PATH", library(".so").parent().unwrap())
        .env_remove("TESSERA_DICT_PATH"));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn the_example_leaks_nothing() {
    if !installed("cc") || !installed("valgrind") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let said = watched(&compile("example", &library(".so"), folder.path()));
    let bytes = said.strip_prefix("64 x 48 pixels in ").unwrap();
    let (bytes, part) = bytes.split_once(" bytes, ").unwrap();
    assert!(
        (20..4000).contains(&bytes.parse::<usize>().unwrap()),
        "{said}"
    );
    assert_eq!(part, "a part of 16 x 12\n");
}

#[test]
fn careless_callers_get_errors() {
    if !installed("cc") || !installed("valgrind") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let said = watched(&compile("border", &library(".so"), folder.path()));
    assert_eq!(said, "all is well\n");
}

#[test]
fn the_static_library_serves_as_well() {
    if !installed("cc") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let program = compile("example", &library(".a"), folder.path());
    run(&mut Command::new(program));
}
