//! `tessera paper` and `tessera dict show` as a user runs them.

use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn tessera(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tessera"));
    command
        .args(arguments)
        .output()
        .expect("the command starts")
}

/// Runs a command that must fail and returns what it says.
fn failure(arguments: &[&str]) -> String {
    let output = tessera(arguments);
    assert!(!output.status.success(), "{arguments:?} should fail");
    String::from_utf8(output.stderr).expect("messages are text")
}

fn success(arguments: &[&str]) -> String {
    let output = tessera(arguments);
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{arguments:?} failed: {message}");
    assert_eq!(message, "", "nothing is drawn where no terminal is");
    String::from_utf8(output.stdout).expect("reports are text")
}

fn text(path: &Path) -> &str {
    path.to_str().expect("temporary paths are text")
}

/// A data root with a small table that looks like iris: two clusters near two planes.
fn synthetic_uci() -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    let mut table = String::from("a,b,c,d,class\n");
    for row in 0..60 {
        let (s, t) = ((row * 7 % 11) as f64 + 1.0, (row * 5 % 13) as f64 + 1.0);
        let noise = (row % 3) as f64 * 0.05;
        let sample = if row % 2 == 0 {
            [s, t, s + t, noise]
        } else {
            [t, noise, s, 2.0 * s + t]
        };
        table += &format!(
            "{},{},{},{},x\n",
            sample[0], sample[1], sample[2], sample[3]
        );
    }
    fs::create_dir(root.path().join("uci")).unwrap();
    fs::write(root.path().join("uci/iris.csv"), table).unwrap();
    root
}

#[test]
fn table2_writes_json_markdown_and_a_table() {
    let root = synthetic_uci();
    let (json, folder) = (root.path().join("out.json"), root.path().join("report"));
    let arguments = [
        "paper",
        "table2",
        "--data",
        text(root.path()),
        "--set",
        "iris",
        "--seed",
        "3",
    ];
    let outputs = ["--json", text(&json), "-o", text(&folder)];
    let printed = success(&[&arguments[..], &outputs[..]].concat());
    assert!(
        printed.contains("iris") && printed.contains("522.1(275.9)"),
        "{printed}"
    );

    let value: Value = serde_json::from_slice(&fs::read(&json).unwrap()).unwrap();
    assert_eq!((&value["table"], &value["seed"]), (&"2a".into(), &3.into()));
    assert_eq!(methods(&value), ["online", "ksvd", "random", "batch"]);
    assert_eq!(value["further"][0]["table"], "2b");
    assert_eq!(
        methods(&value["further"][0]),
        ["esvd", "ksvd", "random", "batch"]
    );
    for row in value["rows"].as_array().unwrap() {
        assert_eq!(row["set"], "iris");
        assert!(row["mean"].as_f64().unwrap() >= 0.0 && row["std"].as_f64().unwrap() >= 0.0);
        assert!(row["nnz"].as_u64().unwrap() > 0);
    }
    let markdown = fs::read_to_string(folder.join("table2.md")).unwrap();
    assert!(markdown.contains("| iris | ours |"), "{markdown}");

    let again = failure(&[&arguments[..], &["--json", text(&json)]].concat());
    assert!(
        again.contains("out.json") && again.contains("--force"),
        "{again}"
    );
}

fn methods(table: &Value) -> Vec<&str> {
    let rows = table["rows"].as_array().unwrap();
    rows.iter()
        .map(|row| row["method"].as_str().unwrap())
        .collect()
}

#[test]
fn the_seed_decides_and_the_threads_do_not() {
    let root = synthetic_uci();
    let folder = root.path().join("uci");
    let run = |name: &str, seed: &str, threads: &str| {
        let json = root.path().join(name);
        let data = ["paper", "table2", "--data", text(&folder), "--set", "iris"];
        success(
            &[
                &data[..],
                &["--seed", seed, "--threads", threads, "--json", text(&json)],
            ]
            .concat(),
        );
        fs::read_to_string(json).unwrap()
    };
    let first = run("a.json", "5", "1");
    assert_eq!(first, run("b.json", "5", "2"));
    assert_ne!(first, run("c.json", "6", "2"));
}

#[test]
fn missing_data_is_named_with_advice() {
    let root = tempfile::tempdir().unwrap();
    for (experiment, file) in [
        ("table1", "barbara.png"),
        ("table2", "bupa.csv"),
        ("openset", "barbara.png"),
    ] {
        let message = failure(&["paper", experiment, "--data", text(root.path())]);
        assert!(
            message.contains(file) && message.contains("--data"),
            "{message}"
        );
    }
    let out = root.path().join("out");
    let message = failure(&[
        "paper",
        "figure1",
        "--data",
        text(root.path()),
        "-o",
        text(&out),
    ]);
    assert!(message.contains("*.webp"), "{message}");
    let nowhere = root.path().join("nowhere");
    let message = failure(&["paper", "table2", "--data", text(&nowhere)]);
    assert!(message.contains("is not a folder"), "{message}");
}

#[test]
fn garbled_data_is_named() {
    let root = tempfile::tempdir().unwrap();
    fs::write(root.path().join("lena.png"), b"not a picture").unwrap();
    fs::write(root.path().join("iris.csv"), "a,b,class\n1,nonsense,x\n").unwrap();
    fs::write(root.path().join("t10k-images-idx3-ubyte.gz"), b"not gzip").unwrap();
    let data = ["--data", text(root.path())];
    let cases: [(&[&str], &str); 3] = [
        (&["table1", "--image", "lena"], "lena.png"),
        (&["table2", "--set", "iris"], "iris.csv"),
        (
            &["figure1", "--set", "mnist", "-o", text(root.path())],
            "t10k-images-idx3-ubyte.gz",
        ),
    ];
    for (arguments, file) in cases {
        let message = failure(&[&["paper"], arguments, &data[..]].concat());
        assert!(
            message.contains(file) && message.contains("damaged"),
            "{message}"
        );
    }
}

#[test]
fn wrong_names_and_options_are_refused() {
    let root = tempfile::tempdir().unwrap();
    let data = ["--data", text(root.path())];
    let cases: [(&[&str], &str); 5] = [
        (&["table1", "--image", "monalisa"], "barbara"),
        (&["table2", "--set", "lena"], "yeast"),
        (&["table2", "--image", "iris"], "--set"),
        (
            &["table1", "--image", "lena", "--set", "lena"],
            "cannot be used with",
        ),
        (&["figure1"], "-o DIR"),
    ];
    for (arguments, expected) in cases {
        let message = failure(&[&["paper"], arguments, &data[..]].concat());
        assert!(message.contains(expected), "{arguments:?}: {message}");
    }
}

/// Writes `values` as a matrix of `rows` rows in NumPy's format, version 1.
fn write_npy(path: &Path, rows: usize, values: &[f64]) {
    let columns = values.len() / rows;
    let header =
        format!("{{'descr': '<f8', 'fortran_order': True, 'shape': ({rows}, {columns}), }}");
    let padded = format!("{header:<117}\n");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((padded.len() as u16).to_le_bytes());
    bytes.extend(padded.as_bytes());
    bytes.extend(values.iter().flat_map(|value| value.to_le_bytes()));
    fs::write(path, bytes).unwrap();
}

#[test]
fn dict_show_draws_a_matrix() {
    let root = tempfile::tempdir().unwrap();
    let (matrix, picture) = (root.path().join("atoms.npy"), root.path().join("atoms.png"));
    let values: Vec<f64> = (0..16 * 5).map(|index| (index % 16) as f64 - 7.5).collect();
    write_npy(&matrix, 16, &values);
    let arguments = ["dict", "show", text(&matrix), "-o", text(&picture)];
    success(&arguments);
    let drawn = fs::read(&picture).unwrap();
    assert_eq!(&drawn[1..4], b"PNG");
    assert!(failure(&arguments).contains("--force"));
    success(&[&arguments[..], &["--force"]].concat());
    assert_eq!(fs::read(&picture).unwrap(), drawn);
}

#[test]
fn dict_show_refuses_what_it_cannot_draw() {
    let root = tempfile::tempdir().unwrap();
    let (matrix, picture) = (root.path().join("atoms.npy"), root.path().join("atoms.png"));
    let show = || failure(&["dict", "show", text(&matrix), "-o", text(&picture)]);
    assert!(show().contains("atoms.npy"), "a missing file is named");
    fs::write(&matrix, b"nonsense").unwrap();
    assert!(show().contains("atoms.npy"));
    write_npy(&matrix, 3, &[1.0; 6]);
    assert!(show().contains("not a square tile"));
    let other = root.path().join("atoms.xyz");
    fs::write(&other, b"nonsense").unwrap();
    let told = failure(&["dict", "show", text(&other), "-o", text(&picture)]);
    assert!(
        told.contains("atoms.xyz") && told.contains("no Tessera dictionary"),
        "{told}"
    );
    assert!(!picture.exists());
}

/// The folder of the paper's data, which are not part of this repository.
fn real_data() -> PathBuf {
    PathBuf::from(std::env::var_os("TESSERA_DATA").expect("TESSERA_DATA names the folder"))
}

/// Where the paper lost against error-based K-SVD (ecoli), Batch wins.
#[test]
#[ignore = "needs the UCI sets, in the folder named by TESSERA_DATA"]
fn batch_has_the_lowest_error_on_real_sets() {
    let data = real_data();
    let out = tempfile::tempdir().unwrap();
    for set in ["iris", "ecoli"] {
        let json = out.path().join(set);
        success(&[
            "paper",
            "table2",
            "--data",
            text(&data),
            "--set",
            set,
            "--json",
            text(&json),
        ]);
        let value: Value = serde_json::from_slice(&fs::read(&json).unwrap()).unwrap();
        for table in [&value, &value["further"][0]] {
            let rows = table["rows"].as_array().unwrap();
            let lowest = rows
                .iter()
                .min_by(|a, b| mean(a).total_cmp(&mean(b)))
                .unwrap();
            assert_eq!(
                lowest["method"], "batch",
                "{set} {}: {rows:?}",
                table["table"]
            );
        }
    }
}

fn mean(row: &Value) -> f64 {
    row["mean"].as_f64().unwrap()
}
