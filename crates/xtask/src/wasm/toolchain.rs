//! A compiler for WebAssembly: that of rustup if it has the target, else Debian's, which builds the library of that target
//! from its source.

use anyhow::{Context, Result, bail};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const TARGET: &str = "wasm32-unknown-unknown";
/// Debian's own, whatever comes first in the search path.
const SYSTEM: &str = "/usr/bin";

/// Which cargo to call, and how.
pub(super) enum Toolchain {
    /// It has the library of the target.
    Ready,
    /// Debian's packages `rustc-web`, `cargo-web`, `rust-web-src` and `lld`.
    Debian,
}

impl Toolchain {
    /// Looks for one.
    pub(super) fn find() -> Result<Self> {
        let library = output("rustc", &["--print", "target-libdir", "--target", TARGET]);
        if library.is_some_and(|folder| folder.is_dir()) {
            return Ok(Self::Ready);
        }
        let system = Path::new(SYSTEM);
        let compiler = system.join("rustc");
        let sysroot = output(&compiler.to_string_lossy(), &["--print", "sysroot"]);
        let source = sysroot.map(|root| root.join("lib/rustlib/src/rust/library/std"));
        if source.is_some_and(|source| source.is_dir()) && system.join("wasm-ld").exists() {
            return Ok(Self::Debian);
        }
        bail!(
            "there is no Rust compiler for WebAssembly here; run `rustup target add {TARGET}`, or on Debian \
             `apt install rustc-web cargo-web rust-web-src lld`"
        )
    }

    /// Builds the module that this feature stands for and returns it.
    pub(super) fn build(&self, workspace: &Path, feature: &str) -> Result<Vec<u8>> {
        let folder = workspace.join("target/wasm-build");
        let mut cargo = self.cargo();
        cargo
            .current_dir(workspace)
            .args(["build", "--locked", "--profile", "wasm"])
            .args(["--package", "tessera-wasm", "--target", TARGET])
            .args(["--no-default-features", "--features", feature])
            .arg("--target-dir")
            .arg(&folder);
        let status = cargo.status().context("cargo cannot be started")?;
        if !status.success() {
            bail!("the WebAssembly module could not be built ({status})");
        }
        let module = folder.join(TARGET).join("wasm/tessera_wasm.wasm");
        fs::read(&module).with_context(|| format!("cannot read {}", module.display()))
    }

    /// A cargo that does not inherit the settings of the one this program was started by.
    fn cargo(&self) -> Command {
        const SIMD: &str = "-C target-feature=+simd128";
        match self {
            Self::Ready => {
                let mut cargo = Command::new("cargo");
                cargo.env("RUSTFLAGS", SIMD);
                cargo
            }
            Self::Debian => {
                let mut cargo = Command::new(format!("{SYSTEM}/cargo"));
                cargo
                    .env("RUSTC", format!("{SYSTEM}/rustc"))
                    // What builds the library of the target is not stable yet.
                    .env("RUSTC_BOOTSTRAP", "1")
                    .env("RUSTFLAGS", format!("{SIMD} -C linker=wasm-ld"))
                    .env_remove("CARGO")
                    .arg("-Zbuild-std=std,panic_abort");
                cargo
            }
        }
    }
}

/// The path that a command prints, if it works.
fn output(command: &str, arguments: &[&str]) -> Option<PathBuf> {
    let output = Command::new(command).args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    (output.status.success() && !text.trim().is_empty()).then(|| PathBuf::from(text.trim()))
}
