//! The C library: its header, and putting it where compilers look.

use anyhow::{Context, Result, bail};
use std::env::consts::{DLL_PREFIX, DLL_SUFFIX};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const CRATE: &str = "crates/tessera-capi";
/// Other versions word the header differently.
const CBINDGEN: &str = "0.29.2";

/// Writes the header, or compares it with the one that is there.
pub(crate) fn header(check: bool) -> Result<()> {
    let made = generated()?;
    let path = Path::new(CRATE).join("include/tessera.h");
    if !check {
        return fs::write(&path, made).with_context(|| path.display().to_string());
    }
    if fs::read_to_string(&path).unwrap_or_default() != made {
        let path = path.display();
        bail!("{path} is not what the sources say; run `cargo xtask c-header`");
    }
    Ok(())
}

fn generated() -> Result<String> {
    let missing = || {
        format!(
            "cbindgen {CBINDGEN} is needed: cargo install cbindgen --version {CBINDGEN} --locked"
        )
    };
    let version = output(Command::new("cbindgen").arg("--version")).with_context(missing)?;
    if version.trim() != format!("cbindgen {CBINDGEN}") {
        bail!("{}, not {}", missing(), version.trim());
    }
    let config = Path::new(CRATE).join("cbindgen.toml");
    output(
        Command::new("cbindgen")
            .arg("--quiet")
            .arg("--config")
            .arg(config)
            .arg(CRATE),
    )
}

/// What a command prints, if all goes well.
fn output(command: &mut Command) -> Result<String> {
    let output = command.output()?;
    if !output.status.success() {
        bail!("{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    }
    Ok(String::from_utf8(output.stdout)?)
}

/// Builds the library and copies it below `prefix`.
pub(crate) fn install(prefix: &Path, force: bool) -> Result<()> {
    let prefix = std::path::absolute(prefix)?;
    let built = build()?;
    let shared = format!("{DLL_PREFIX}tessera{DLL_SUFFIX}");
    let crate_folder = Path::new(CRATE);
    let copies = [
        (built.join(&shared), prefix.join("lib").join(shared)),
        (built.join("libtessera.a"), prefix.join("lib/libtessera.a")),
        (
            crate_folder.join("include/tessera.h"),
            prefix.join("include/tessera.h"),
        ),
    ];
    let description = prefix.join("lib/pkgconfig/tessera.pc");
    let targets = copies.iter().map(|(_, to)| to).chain([&description]);
    if let Some(taken) = targets.into_iter().find(|to| to.exists() && !force) {
        bail!(
            "{} exists already; use --force to replace it",
            taken.display()
        );
    }
    for (from, to) in &copies {
        write(
            to,
            &fs::read(from).with_context(|| from.display().to_string())?,
        )?;
    }
    let template = fs::read_to_string(crate_folder.join("tessera.pc.in"))?;
    let filled = template
        .replace("@PREFIX@", &prefix.display().to_string())
        .replace("@VERSION@", env!("CARGO_PKG_VERSION"));
    write(&description, filled.as_bytes())
}

/// Builds the library as users get it; returns the folder it lies in.
fn build() -> Result<PathBuf> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut build = Command::new(cargo);
    build.args(["build", "--release", "--locked", "-p", "tessera-capi"]);
    if !build.status()?.success() {
        bail!("the library cannot be built");
    }
    let target =
        std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| "target".into(), PathBuf::from);
    Ok(target.join("release"))
}

fn write(path: &Path, content: &[u8]) -> Result<()> {
    let folder = path.parent().context("a file lies in a folder")?;
    fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    fs::write(path, content).with_context(|| path.display().to_string())?;
    println!("{}", path.display());
    Ok(())
}
