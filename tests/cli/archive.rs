//! `tessera encode -r`: trees, resuming, failures, and being killed at any moment.

use crate::command::Moments;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;
use tessera_codec::Decoder;

const INCOMPLETE: i32 = 6;

fn picture(path: &Path, seed: u8) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let pixel = |x: u32, y: u32| image::Rgb([(x * 9) as u8, (y * 9) as u8, seed]);
    image::RgbImage::from_fn(24, 16, pixel).save(path).unwrap();
}

fn command(input: &Path, output: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tessera"));
    command
        .arg("encode")
        .arg("-r")
        .arg(input)
        .arg("-o")
        .arg(output);
    command
}

fn run(input: &Path, output: &Path, options: &[&str]) -> Output {
    command(input, output).args(options).output().unwrap()
}

fn summary(output: &Output) -> serde_json::Value {
    serde_json::from_slice(&output.stdout).unwrap()
}

/// All files below a folder, sorted, relative to it.
fn tree(root: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                files.push(path.strip_prefix(root).unwrap().to_path_buf());
            }
        }
    }
    files.sort();
    files
}

/// A folder `in` with pictures of these names, and a place `out` for the result.
fn archive(names: &[&str]) -> (TempDir, PathBuf, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let (input, output) = (folder.path().join("in"), folder.path().join("out"));
    for (seed, name) in names.iter().enumerate() {
        picture(&input.join(name), seed as u8);
    }
    (folder, input, output)
}

#[test]
fn tree_is_kept_and_done_work_is_skipped() {
    let names = [
        "a.png",
        "sub/b.jpg",
        "sub/deep/c.bmp",
        "same.png",
        "same.bmp",
    ];
    let (_folder, input, output) = archive(&names);
    let first = run(&input, &output, &["--json", "--verify", "--jobs", "2"]);
    assert!(first.status.success());
    assert_eq!(summary(&first)["encoded"], 5);
    let expected = [
        "a.tsr",
        "same.bmp.tsr",
        "same.png.tsr",
        "sub/b.tsr",
        "sub/deep/c.tsr",
    ];
    assert_eq!(tree(&output), expected.map(PathBuf::from));
    fs::remove_file(output.join("sub/b.tsr")).unwrap();
    let second = summary(&run(&input, &output, &["--json"]));
    assert_eq!(
        (&second["encoded"], &second["skipped"]),
        (&1.into(), &4.into())
    );
    let forced = summary(&run(&input, &output, &["--json", "--force"]));
    assert_eq!(forced["encoded"], 5);
}

#[test]
fn failures_are_listed_and_do_not_stop_the_rest() {
    let (_folder, input, output) = archive(&["a.png", "z.png"]);
    fs::write(input.join("broken.png"), b"not a picture").unwrap();
    fs::write(input.join("empty.jpg"), b"").unwrap();
    let result = run(&input, &output, &[]);
    let message = String::from_utf8_lossy(&result.stderr);
    assert_eq!(result.status.code(), Some(INCOMPLETE), "{message}");
    for part in ["broken.png", "empty.jpg", "2 encoded", "2 failed"] {
        assert!(message.contains(part), "{part} in {message}");
    }
    assert_eq!(tree(&output), ["a.tsr", "z.tsr"].map(PathBuf::from));
}

#[test]
fn unwritable_places_are_failures() {
    let (folder, input, _) = archive(&["sub/a.png", "b.png"]);
    let output = folder.path().join("out");
    fs::create_dir(&output).unwrap();
    fs::write(output.join("sub"), b"a file where a folder should be").unwrap();
    let result = run(&input, &output, &["--json"]);
    assert_eq!(result.status.code(), Some(INCOMPLETE));
    assert_eq!(summary(&result)["failures"].as_array().unwrap().len(), 1);
    assert!(output.join("b.tsr").is_file());
}

#[cfg(target_os = "linux")]
#[test]
fn full_disk_is_an_error() {
    let (_folder, input, _) = archive(&["a.png"]);
    let result = Command::new(env!("CARGO_BIN_EXE_tessera"))
        .arg("encode")
        .arg(input.join("a.png"))
        .args(["-o", "/dev/full"])
        .output()
        .unwrap();
    assert_eq!(result.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&result.stderr).contains("/dev/full"));
}

/// The command with files limited to `blocks` of 512 bytes, as on a disk that is nearly full.
#[cfg(unix)]
fn run_with_little_space(blocks: u32, input: &Path, output: &Path) -> Output {
    let limited = command(input, output);
    // With its signal ignored, a limit that is met is an error like a full disk.
    Command::new("sh")
        .args(["-c", "trap '' XFSZ; ulimit -f $0; exec \"$@\""])
        .arg(blocks.to_string())
        .arg(limited.get_program())
        .args(limited.get_args())
        .arg("--json")
        .output()
        .unwrap()
}

#[cfg(unix)]
#[test]
fn full_disk_leaves_nothing_behind_and_the_rest_follows() {
    let (_folder, input, output) = archive(&["a.png", "b/c.png"]);
    let noisy = |x: u32, y: u32| image::Luma([(x * x * 7 + y * y * 13 + x * y * 5) as u8]);
    let large = image::GrayImage::from_fn(400, 300, noisy);
    large.save(input.join("large.png")).unwrap();
    let full = run_with_little_space(8, &input, &output);
    assert_eq!(full.status.code(), Some(INCOMPLETE));
    let failures = summary(&full)["failures"].to_string();
    assert!(
        failures.contains("large.png") && failures.contains("cannot write"),
        "{failures}"
    );
    assert_eq!(tree(&output), ["a.tsr", "b/c.tsr"].map(PathBuf::from));
    let again = summary(&run(&input, &output, &["--json"]));
    assert_eq!(
        (&again["encoded"], &again["skipped"]),
        (&1.into(), &2.into())
    );
}

#[cfg(unix)]
#[test]
fn unreadable_files_and_folders_are_listed() {
    use std::os::unix::fs::PermissionsExt;
    let (_folder, input, output) = archive(&["a.png", "secret.png", "closed/b.png"]);
    std::os::unix::fs::symlink("nowhere.png", input.join("dangling.png")).unwrap();
    let close = |name: &str| {
        let path = input.join(name);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o000)).unwrap();
        path
    };
    let (secret, closed) = (close("secret.png"), close("closed"));
    let everything_is_readable = fs::read(&secret).is_ok();
    let result = run(&input, &output, &["--json"]);
    for path in [secret, closed] {
        fs::set_permissions(path, fs::Permissions::from_mode(0o700)).unwrap();
    }
    let failures = summary(&result)["failures"].to_string();
    assert_eq!(result.status.code(), Some(INCOMPLETE));
    assert!(failures.contains("dangling.png"), "{failures}");
    if everything_is_readable {
        println!("skipped: the superuser can read everything");
        return;
    }
    assert!(
        failures.contains("secret.png") && failures.contains("closed"),
        "{failures}"
    );
    assert_eq!(tree(&output), [PathBuf::from("a.tsr")]);
}

#[cfg(unix)]
#[test]
fn links_in_circles_end() {
    use std::os::unix::fs::symlink;
    let (_folder, input, output) = archive(&["a.png", "sub/b.png"]);
    symlink(&input, input.join("sub/up")).unwrap();
    symlink("self", input.join("self")).unwrap();
    symlink("self.png", input.join("self.png")).unwrap();
    symlink("a.png", input.join("other.png")).unwrap();
    let result = run(&input, &output, &["--json"]);
    assert_eq!(result.status.code(), Some(INCOMPLETE));
    let summary = summary(&result);
    assert_eq!(
        summary["failures"].as_array().unwrap().len(),
        1,
        "{summary}"
    );
    assert_eq!(
        tree(&output),
        ["a.tsr", "other.tsr", "sub/b.tsr"].map(PathBuf::from)
    );
}

#[test]
fn no_output_is_written_twice() {
    let names = [
        "a.png",
        "a.jpg",
        "a.png.bmp",
        "a.jpg.png.bmp",
        "a.jpg.png.png",
    ];
    let (folder, input, output) = archive(&names);
    assert_eq!(summary(&run(&input, &output, &["--json"]))["encoded"], 5);
    assert_eq!(tree(&output).len(), 5, "{:?}", tree(&output));
    let other = folder.path().join("other");
    picture(&other.join("b.png"), 1);
    picture(&other.join("a.jpg.bmp"), 2);
    let both = command(&input, &output)
        .arg(&other)
        .args(["--json", "--force"])
        .output()
        .unwrap();
    assert_eq!(both.status.code(), Some(INCOMPLETE));
    let summary = summary(&both);
    assert_eq!(summary["encoded"], 6, "{summary}");
    assert!(
        summary["failures"].to_string().contains("a.jpg.bmp"),
        "{summary}"
    );
}

#[cfg(target_os = "linux")]
#[test]
fn names_need_not_be_text() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let (_folder, input, output) = archive(&["a.png"]);
    let name = OsStr::from_bytes(b"caf\xE9.png");
    fs::rename(input.join("a.png"), input.join(name)).unwrap();
    assert!(run(&input, &output, &["--json"]).status.success());
    assert!(output.join(OsStr::from_bytes(b"caf\xE9.tsr")).is_file());
    fs::write(input.join(OsStr::from_bytes(b"broken\xE9.png")), b"?").unwrap();
    let failed = run(&input, &output, &["--json"]);
    assert_eq!(failed.status.code(), Some(INCOMPLETE));
    assert!(summary(&failed)["failures"].to_string().contains("broken"));
}

#[test]
fn shards_are_disjoint_and_together_everything() {
    let names: Vec<String> = (0..24).map(|n| format!("{}/{n}.png", n % 3)).collect();
    let mut names: Vec<&str> = names.iter().map(String::as_str).collect();
    names.extend(["same.png", "same.bmp"]);
    let (folder, input, whole) = archive(&names);
    assert!(run(&input, &whole, &["--quiet"]).status.success());
    let shared = folder.path().join("shared");
    let mut apart = Vec::new();
    for shard in ["2/3", "1/3", "3/3"] {
        let options = ["--shard", shard, "--json"];
        let own = folder.path().join(shard.replace('/', "-"));
        let first = summary(&run(&input, &own, &options));
        assert_eq!(first["encoded"], tree(&own).len(), "{first}");
        assert!((3..20).contains(&tree(&own).len()), "{first}");
        apart.extend(tree(&own));
        // Side by side in one folder they do the same, and nothing of each other's work.
        assert_eq!(summary(&run(&input, &shared, &options)), first);
    }
    apart.sort();
    assert_eq!(apart, tree(&whole), "each once");
    assert_eq!(tree(&shared), tree(&whole));
    for name in tree(&whole) {
        let bytes = |root: &Path| fs::read(root.join(&name)).unwrap();
        assert_eq!(bytes(&shared), bytes(&whole), "{name:?}");
    }
}

#[test]
fn shards_hang_on_names_below_the_folder_only() {
    let (folder, input, output) = archive(&["a.png", "b/c.png", "b/d.png", "e.png", "f.png"]);
    run(&input, &output, &["--shard", "1/2"]);
    let (elsewhere, fewer) = (
        folder.path().join("mount/elsewhere"),
        folder.path().join("2"),
    );
    fs::create_dir_all(elsewhere.parent().unwrap()).unwrap();
    fs::rename(&input, &elsewhere).unwrap();
    fs::remove_file(elsewhere.join("e.png")).unwrap();
    run(&elsewhere, &fewer, &["--shard", "1/2"]);
    let mut expected = tree(&output);
    expected.retain(|name| name != Path::new("e.tsr"));
    assert_eq!(tree(&fewer), expected);
    let refused = run(&elsewhere, &fewer, &["--shard", "3/2"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("I from 1 to N"));
}

/// Every visible output must be whole, whenever the process dies.
#[test]
fn killed_at_any_moment_nothing_is_half_written() {
    outputs_survive_kills(50);
}

#[test]
#[ignore = "takes minutes"]
fn killed_a_thousand_times_nothing_is_half_written() {
    outputs_survive_kills(1000);
}

/// Kills runs over one tree of pictures. Whenever a run has completed, the tree begins anew.
fn outputs_survive_kills(times: usize) {
    let names: Vec<String> = (0..30).map(|n| format!("{}/{n}.png", n % 3)).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let (_folder, input, output) = archive(&names);
    let mut moments = Moments::new();
    for _ in 0..times {
        let mut run = command(&input, &output);
        moments.kill(run.args(["--quiet", "--effort", "1"]));
        assert_outputs_are_whole(&output);
        if count_coded(&output) == names.len() {
            fs::remove_dir_all(&output).unwrap();
        }
    }
    assert!(run(&input, &output, &[]).status.success());
    assert_outputs_are_whole(&output);
    let done = tree(&output);
    assert_eq!(done.len(), names.len(), "{done:?}");
}

fn count_coded(output: &Path) -> usize {
    let is_coded = |name: &PathBuf| name.extension().is_some_and(|ending| ending == "tsr");
    tree(output).iter().filter(|name| is_coded(name)).count()
}

fn assert_outputs_are_whole(output: &Path) {
    for name in tree(output) {
        if name.extension().is_some_and(|extension| extension == "tsr") {
            let file = fs::read(output.join(&name)).unwrap();
            let container = Decoder::new().parse(&file).unwrap();
            container.check().unwrap();
        }
    }
}
