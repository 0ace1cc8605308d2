//! Deliberate misreadings of the specification: does the conformance set notice them?
//!
//! The table `crates/tessera-reference/mutants.tsv` has a line for each: file, what is searched there, what takes its place,
//! what is misread, and, where that can make no difference, why. What is searched occurs once in the file and is, or
//! marks with « and », an expression. A copy of the reference decoder gets all of them at once, each behind a condition,
//! so that one build serves all that do not overlap.

use anyhow::{Context, Result, bail, ensure};
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const TABLE: &str = "crates/tessera-reference/mutants.tsv";
const PAGE: &str = "fixtures/conformance/MUTANTS.md";
const FOLDER: &str = "target/mutants";
/// Says to the copy which mutant it is.
const VARIABLE: &str = "TESSERA_MUTANT";
/// No mutant takes longer, but for those that never end.
const SECONDS: &str = "120";

/// A misreading.
struct Mutant {
    file: String,
    /// Where the expression stands in the file.
    start: usize,
    end: usize,
    replacement: String,
    why: String,
    /// Why it has no effect, if it has none.
    excuse: Option<String>,
}

/// Runs all mutants and writes the page about them.
pub(crate) fn run() -> Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()?;
    let mutants = read_table(&root)?;
    let mut results = vec![String::new(); mutants.len()];
    for build in builds(&mutants) {
        let program = build_copy(&root, &mutants, &build)?;
        ensure!(
            try_mutant(&root, &program, usize::MAX)?.is_none(),
            "the decoder itself does not pass"
        );
        for number in build {
            let killer = try_mutant(&root, &program, number)?;
            results[number] = killer.unwrap_or_default();
            println!("{number}: {} | {}", mutants[number].why, results[number]);
        }
    }
    fs::write(root.join(PAGE), page(&mutants, &results))?;
    let unexplained =
        |&number: &usize| results[number].is_empty() && mutants[number].excuse.is_none();
    let survivors = (0..mutants.len()).filter(unexplained).count();
    println!("{} mutants, {survivors} survive", mutants.len());
    Ok(())
}

fn read_table(root: &Path) -> Result<Vec<Mutant>> {
    let table = fs::read_to_string(root.join(TABLE)).context(TABLE)?;
    table.lines().map(|line| read_line(root, line)).collect()
}

fn read_line(root: &Path, line: &str) -> Result<Mutant> {
    let columns: Vec<&str> = line.split('\t').collect();
    let [file, search, replacement, why, excuse @ ..] = &columns[..] else {
        bail!("{TABLE}: less than four columns: {line}");
    };
    let source = fs::read_to_string(source(root).join(file)).with_context(|| (*file).to_owned())?;
    let plain = search.replace(['«', '»'], "");
    let mut found = source.match_indices(&plain);
    let (Some((at, _)), None) = (found.next(), found.next()) else {
        bail!("{TABLE}: {file} has {plain:?} not once");
    };
    let (before, behind) = match search.split_once('«') {
        Some((before, rest)) => (
            before,
            rest.split_once('»').map_or("", |(_, behind)| behind),
        ),
        None => ("", ""),
    };
    Ok(Mutant {
        file: (*file).to_owned(),
        start: at + before.len(),
        end: at + plain.len() - behind.len(),
        replacement: (*replacement).to_owned(),
        why: (*why).to_owned(),
        excuse: excuse.first().map(|&excuse| excuse.to_owned()),
    })
}

fn source(root: &Path) -> PathBuf {
    root.join("crates/tessera-reference/src")
}

/// Numbers of mutants that fit into one copy: those of one file do not overlap.
fn builds(mutants: &[Mutant]) -> Vec<Vec<usize>> {
    let mut builds: Vec<Vec<usize>> = Vec::new();
    let apart = |a: &Mutant, b: &Mutant| a.file != b.file || a.end <= b.start || b.end <= a.start;
    for (number, mutant) in mutants.iter().enumerate() {
        let fits =
            |build: &&mut Vec<usize>| build.iter().all(|&other| apart(mutant, &mutants[other]));
        match builds.iter_mut().find(fits) {
            Some(build) => build.push(number),
            None => builds.push(vec![number]),
        }
    }
    builds
}

/// Builds a copy of the decoder with some mutants.
fn build_copy(root: &Path, mutants: &[Mutant], build: &[usize]) -> Result<PathBuf> {
    let folder = root.join(FOLDER).join("tessera-reference");
    let assets = root.join(FOLDER).join("tessera-dict/assets");
    fs::create_dir_all(&assets)?;
    fs::copy(
        root.join("crates/tessera-dict/assets/default.tsd"),
        assets.join("default.tsd"),
    )?;
    copy_source(
        &source(root),
        &folder.join("src"),
        Path::new(""),
        &|file, text| {
            let own = build
                .iter()
                .filter(|&&number| Path::new(&mutants[number].file) == file);
            mutated(
                text,
                own.map(|&number| (number, &mutants[number])).collect(),
            )
        },
    )?;
    let manifest = "[package]\nname = \"tessera-reference\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[workspace]\n\n\
        [profile.release]\nopt-level = 2\ndebug-assertions = false\n";
    fs::write(folder.join("Cargo.toml"), manifest)?;
    let library = folder.join("src/lib.rs");
    let switch = "\n/// Whether the mutant of this number is tried.\npub(crate) fn mutant(number: usize) -> bool {\n    \
        static NUMBER: std::sync::OnceLock<Option<usize>> = std::sync::OnceLock::new();\n    \
        *NUMBER.get_or_init(|| std::env::var(\"TESSERA_MUTANT\").ok()?.parse().ok()) == Some(number)\n}\n";
    fs::write(&library, fs::read_to_string(&library)? + switch)?;
    let mut cargo = Command::new("cargo");
    cargo.args(["build", "--release", "--offline", "--quiet"]);
    cargo.env("RUSTFLAGS", "-Awarnings").current_dir(&folder);
    ensure!(cargo.status()?.success(), "the mutants do not compile");
    Ok(folder.join("target/release/tessera-reference"))
}

fn copy_source(
    from: &Path,
    to: &Path,
    inside: &Path,
    change: &impl Fn(&Path, &str) -> String,
) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (path, name) = (entry.path(), entry.file_name());
        let inside = inside.join(&name);
        if path.is_dir() {
            copy_source(&path, &to.join(&name), &inside, change)?;
        } else {
            fs::write(to.join(&name), change(&inside, &fs::read_to_string(&path)?))?;
        }
    }
    Ok(())
}

/// A source with every expression behind the condition that its mutant is not tried.
fn mutated(source: &str, mut mutants: Vec<(usize, &Mutant)>) -> String {
    mutants.sort_by_key(|(_, mutant)| std::cmp::Reverse(mutant.start));
    let mut text = source.to_owned();
    for (number, mutant) in mutants {
        let (honest, other) = (&source[mutant.start..mutant.end], &mutant.replacement);
        let choice = format!("(if crate::mutant({number}) {{ {other} }} else {{ {honest} }})");
        text.replace_range(mutant.start..mutant.end, &choice);
    }
    text
}

/// What notices a mutant, if anything does.
fn try_mutant(root: &Path, program: &Path, number: usize) -> Result<Option<String>> {
    let mut command = Command::new("timeout");
    command.arg(SECONDS).arg(program).arg("--conformance");
    command.arg(root.join("fixtures/conformance"));
    let output = command.env(VARIABLE, number.to_string()).output()?;
    if output.status.success() {
        return Ok(None);
    }
    let told = String::from_utf8_lossy(&output.stderr);
    let last = told
        .lines()
        .find(|line| line.contains(": ") && !line.starts_with("note"));
    Ok(Some(match last {
        Some(line) if line.contains("panicked") => "a panic".to_owned(),
        Some(line) => line.split(": ").next().unwrap_or_default().to_owned(),
        None => "no end".to_owned(),
    }))
}

fn page(mutants: &[Mutant], results: &[String]) -> String {
    let killed = results.iter().filter(|result| !result.is_empty()).count();
    let pairs = mutants.iter().zip(results);
    let harmless = pairs
        .filter(|(mutant, result)| mutant.excuse.is_some() && result.is_empty())
        .count();
    let mut page = format!(
        "# What the conformance files notice\n\nWritten by `cargo xtask mutants`: {} misreadings of the pages, put into the reference decoder one by one. \
         {killed} make it fail, by the file named; {harmless} can make no difference; {} survive.\n\n\
         | file | misreading | noticed by |\n|---|---|---|\n",
        mutants.len(),
        mutants.len() - killed - harmless,
    );
    for (mutant, result) in mutants.iter().zip(results) {
        let noticed = match (&mutant.excuse, result.as_str()) {
            (Some(excuse), "") => format!("no effect: {excuse}"),
            (_, "") => "**nothing**".to_owned(),
            (_, killer) => killer.to_owned(),
        };
        let file = mutant.file.trim_end_matches(".rs");
        writeln!(page, "| {file} | {} | {noticed} |", mutant.why).expect("writing to memory");
    }
    page
}
