//! Codec tools that may be installed: found in `PATH`, offered ready-made.

use super::{External, ExternalSpec, Quality, Tuning};
use std::env;
use std::path::PathBuf;
use std::process::Command;

/// A known pair of command-line tools.
struct Tool {
    name: &'static str,
    encoder: &'static str,
    decoder: &'static str,
    encode: &'static str,
    decode: &'static str,
    ladder: &'static str,
    extension: &'static str,
    version_flag: &'static str,
    /// What the version says if the command is the one that is meant: some share their name.
    says: &'static str,
    /// Smallest, largest, step.
    tuning: (f64, f64, f64),
    single_threaded: bool,
}

/// Set as people use them: the defaults of the tools, one thread, colour at full resolution where that is usual.
const TOOLS: [Tool; 8] = [
    Tool {
        name: "cjxl",
        encoder: "cjxl",
        decoder: "djxl",
        encode: "cjxl {in} {out} -d {q} -e 7 --num_threads=0 --quiet",
        decode: "djxl {in} {out} --num_threads=0 --quiet",
        ladder: "16,10,6.4,4,2.5,1.5,0.9",
        extension: "jxl",
        version_flag: "--version",
        says: "",
        tuning: (25.0, 0.1, 0.05),
        single_threaded: true,
    },
    Tool {
        name: "avifenc",
        encoder: "avifenc",
        decoder: "avifdec",
        encode: "avifenc -j 1 -s 6 -y 444 --min 0 --max 63 -a end-usage=q -a cq-level={q} {in} {out}",
        decode: "avifdec -j 1 {in} {out}",
        ladder: "58,50,42,34,26,16",
        extension: "avif",
        version_flag: "--version",
        says: "",
        tuning: (63.0, 1.0, 1.0),
        single_threaded: true,
    },
    Tool {
        name: "avifenc-psnr",
        encoder: "avifenc",
        decoder: "avifdec",
        encode: "avifenc -j 1 -s 4 -y 444 --min 0 --max 63 -a end-usage=q -a cq-level={q} -a tune=psnr {in} {out}",
        decode: "avifdec -j 1 {in} {out}",
        ladder: "58,50,42,34,26,16",
        extension: "avif",
        version_flag: "--version",
        says: "",
        tuning: (63.0, 1.0, 1.0),
        single_threaded: true,
    },
    Tool {
        name: "cjpegli",
        encoder: "cjpegli",
        decoder: "djpegli",
        encode: "cjpegli {in} {out} -q {q}",
        decode: "djpegli {in} {out}",
        ladder: "10,25,45,62,76,86,93",
        extension: "jpg",
        version_flag: "--version",
        says: "",
        tuning: (1.0, 100.0, 0.5),
        single_threaded: true,
    },
    Tool {
        name: "mozjpeg",
        encoder: "cjpeg",
        decoder: "djpeg",
        encode: "cjpeg -quality {q} -outfile {out} {in}",
        decode: "djpeg -outfile {out} {in}",
        ladder: "10,25,45,62,76,86,93",
        extension: "jpg",
        version_flag: "-version",
        says: "mozjpeg",
        tuning: (1.0, 100.0, 1.0),
        single_threaded: true,
    },
    Tool {
        name: "cwebp",
        encoder: "cwebp",
        decoder: "dwebp",
        encode: "cwebp -quiet -m 6 -q {q} {in} -o {out}",
        decode: "dwebp -quiet {in} -o {out}",
        ladder: "0,8,25,50,72,85,92",
        extension: "webp",
        version_flag: "-version",
        says: "",
        tuning: (0.0, 100.0, 0.5),
        single_threaded: true,
    },
    Tool {
        name: "opj",
        encoder: "opj_compress",
        decoder: "opj_decompress",
        encode: "opj_compress -i {in} -o {out} -I -r {q}",
        decode: "opj_decompress -i {in} -o {out}",
        ladder: "240,120,68,48,32,20,12",
        extension: "j2k",
        version_flag: "-h",
        says: "",
        tuning: (400.0, 2.0, 0.5),
        single_threaded: true,
    },
    Tool {
        name: "heif-enc",
        encoder: "heif-enc",
        decoder: "heif-dec",
        encode: "heif-enc -q {q} -p chroma=444 -p preset=slow {in} -o {out}",
        decode: "heif-dec {in} {out}",
        ladder: "8,18,28,38,48,58",
        extension: "heic",
        version_flag: "--version",
        says: "",
        tuning: (0.0, 100.0, 1.0),
        single_threaded: false,
    },
];

/// A known tool, and whether this machine has it.
#[derive(Clone, Debug)]
pub struct Installed {
    /// Name for `--codecs`.
    pub name: &'static str,
    /// The commands it needs.
    pub commands: [&'static str; 2],
    /// The definition, if both commands are in `PATH`.
    pub spec: Option<ExternalSpec>,
}

impl Installed {
    /// The codec, if it is installed.
    #[must_use]
    pub fn codec(&self) -> Option<External> {
        self.spec.clone().and_then(|spec| External::new(spec).ok())
    }
}

/// The known tools, in a fixed order.
#[must_use]
pub fn installed_tools() -> Vec<Installed> {
    let look = |tool: &Tool| {
        let there = find(tool.encoder).is_some() && find(tool.decoder).is_some();
        let found = there.then(|| spec(tool));
        Installed {
            name: tool.name,
            commands: [tool.encoder, tool.decoder],
            spec: found.filter(|spec| spec.version.contains(tool.says)),
        }
    };
    TOOLS.iter().map(look).collect()
}

fn spec(tool: &Tool) -> ExternalSpec {
    let (smallest, largest, step) = tool.tuning;
    ExternalSpec {
        name: tool.name.to_owned(),
        version: version(tool),
        encode: tool.encode.to_owned(),
        decode: tool.decode.to_owned(),
        ladder: Quality::list(tool.ladder),
        extension: tool.extension.to_owned(),
        single_threaded: tool.single_threaded,
        tuning: Some(Tuning {
            smallest,
            largest,
            step,
        }),
    }
}

/// The first line with a digit that the tool says about itself.
fn version(tool: &Tool) -> String {
    let output = Command::new(tool.encoder).arg(tool.version_flag).output();
    let text = output.map_or_else(
        |error| error.to_string(),
        |out| {
            let both = [out.stdout, out.stderr].concat();
            String::from_utf8_lossy(&both).into_owned()
        },
    );
    let telling = |line: &&str| line.chars().any(|c| c.is_ascii_digit());
    let line = text.lines().find(telling).unwrap_or("version unknown");
    format!("{} {}", tool.encoder, line.trim())
}

fn find(command: &str) -> Option<PathBuf> {
    let folders = env::var_os("PATH")?;
    env::split_paths(&folders)
        .map(|folder| folder.join(command))
        .find(|candidate| candidate.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_known_tool_has_a_sound_definition() {
        for tool in &TOOLS {
            let external = External::new(spec(tool));
            assert!(external.is_ok(), "{}: {external:?}", tool.name);
        }
    }

    #[test]
    fn commands_are_found_in_the_path() {
        assert!(find("sh").is_some());
        assert!(find("no-such-command-anywhere").is_none());
    }
}
