//! Any codec as a pair of commands that read and write files.

use super::{Codec, CodecError, Quality, Tuning};
use crate::image8::Image8;
use crate::timing::{Cost, Timed};
use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;
use wait4::Wait4;

/// Definition of an external codec.
#[derive(Clone, Debug, PartialEq)]
pub struct ExternalSpec {
    /// Short name.
    pub name: String,
    /// Name and version of the software; empty if unknown.
    pub version: String,
    /// Encoder: a PNG `{in}`, a file of any kind `{out}`, the quality `{q}`.
    pub encode: String,
    /// Decoder: the encoder's file `{in}`, a PNG (or any known picture) `{out}`.
    pub decode: String,
    /// Qualities to measure.
    pub ladder: Vec<Quality>,
    /// Extension of the encoder's file, which some tools insist on.
    pub extension: String,
    /// Whether the commands are known to use one thread.
    pub single_threaded: bool,
    /// How to tune the size, if known.
    pub tuning: Option<Tuning>,
}

impl ExternalSpec {
    /// A codec that the user describes: name, two commands and a comma list of qualities.
    #[must_use]
    pub fn of_user(name: &str, encode: &str, decode: &str, qualities: &str) -> Self {
        Self {
            name: name.to_owned(),
            version: String::new(),
            encode: encode.to_owned(),
            decode: decode.to_owned(),
            ladder: Quality::list(qualities),
            extension: "bin".to_owned(),
            single_threaded: false,
            tuning: None,
        }
    }
}

/// An external codec whose definition has been checked.
#[derive(Clone, Debug)]
pub struct External {
    spec: ExternalSpec,
    encode: CommandTemplate,
    decode: CommandTemplate,
}

impl External {
    /// Checks a definition.
    ///
    /// # Errors
    /// [`CodecError::Definition`] if a command lacks its placeholders, quotes are left open, the
    /// name is unfit for a file name, or there is no quality.
    pub fn new(spec: ExternalSpec) -> Result<Self, CodecError> {
        let wrong = |reason: String| CodecError::Definition {
            name: spec.name.clone(),
            reason,
        };
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_.+".contains(c);
        if spec.name.is_empty() || !spec.name.chars().all(plain) {
            return Err(wrong(
                "the name must consist of letters, digits and -_.+".into(),
            ));
        }
        if spec.ladder.is_empty() {
            return Err(wrong("no qualities".into()));
        }
        let encode = CommandTemplate::parse(&spec.encode, &["{in}", "{out}"]).map_err(wrong)?;
        let decode = CommandTemplate::parse(&spec.decode, &["{in}", "{out}"]).map_err(wrong)?;
        Ok(Self {
            spec,
            encode,
            decode,
        })
    }
}

impl Codec for External {
    fn name(&self) -> &str {
        &self.spec.name
    }

    fn version(&self) -> String {
        match self.spec.version.as_str() {
            "" => "external command, version unknown".into(),
            known => known.into(),
        }
    }

    fn settings(&self) -> String {
        format!("{} | {}", self.spec.encode, self.spec.decode)
    }

    fn ladder(&self) -> Vec<Quality> {
        self.spec.ladder.clone()
    }

    fn single_threaded(&self) -> bool {
        self.spec.single_threaded
    }

    fn tuning(&self) -> Option<Tuning> {
        self.spec.tuning
    }

    fn encode(&self, picture: &Image8, quality: &Quality) -> Result<Timed<Vec<u8>>, CodecError> {
        let folder = TempDir::new()?;
        let input = folder.path().join("in.png");
        let output = folder.path().join(format!("out.{}", self.spec.extension));
        picture.write(&input)?;
        let cost = self.encode.run(&input, &output, quality.as_str())?;
        Ok(Timed {
            value: fs::read(&output)?,
            own_cost: Some(cost),
        })
    }

    fn decode(&self, bytes: &[u8]) -> Result<Timed<Image8>, CodecError> {
        let folder = TempDir::new()?;
        let input = folder.path().join(format!("in.{}", self.spec.extension));
        let output = folder.path().join("out.png");
        fs::write(&input, bytes)?;
        let cost = self.decode.run(&input, &output, "")?;
        Ok(Timed {
            value: Image8::read(&output)?,
            own_cost: Some(cost),
        })
    }
}

/// A command line split into words once; placeholders are filled per call, never by a shell.
#[derive(Clone, Debug)]
struct CommandTemplate {
    words: Vec<String>,
}

impl CommandTemplate {
    fn parse(text: &str, required: &[&str]) -> Result<Self, String> {
        let words = split_words(text).ok_or_else(|| format!("unclosed quote in: {text}"))?;
        if words.is_empty() {
            return Err("empty command".into());
        }
        for placeholder in required {
            if !words.iter().any(|word| word.contains(placeholder)) {
                return Err(format!("{placeholder} is missing in: {text}"));
            }
        }
        Ok(Self { words })
    }

    /// Runs the command and returns its CPU time, threads and waited-for children included.
    fn run(&self, input: &Path, output: &Path, quality: &str) -> Result<Cost, CodecError> {
        let (input, output) = (input.to_string_lossy(), output.to_string_lossy());
        let fill = |word: &String| {
            word.replace("{in}", &input)
                .replace("{out}", &output)
                .replace("{q}", quality)
        };
        let words: Vec<String> = self.words.iter().map(fill).collect();
        let start = Instant::now();
        let mut child = Command::new(&words[0])
            .args(&words[1..])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| CodecError::Failed(format!("{}: {error}", words[0])))?;
        let stderr = child.stderr.take();
        let complaint = thread::spawn(move || read_all(stderr));
        let waited = child.wait4()?;
        let wall = start.elapsed();
        let complaint = complaint.join().unwrap_or_default();
        if !waited.status.success() {
            return Err(failure(&words, &waited.status.to_string(), &complaint));
        }
        let cpu: Duration = waited.rusage.utime + waited.rusage.stime;
        Ok(Cost {
            cpu: cpu.as_secs_f64(),
            wall: wall.as_secs_f64(),
        })
    }
}

fn read_all(pipe: Option<impl Read>) -> String {
    let mut bytes = Vec::new();
    if let Some(mut pipe) = pipe {
        // What could be read before an error is still worth showing.
        let _ = pipe.read_to_end(&mut bytes);
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The last lines of what a failed command said.
fn failure(words: &[String], status: &str, complaint: &str) -> CodecError {
    let lines: Vec<&str> = complaint.lines().rev().take(4).collect();
    let said: Vec<&str> = lines.into_iter().rev().collect();
    CodecError::Failed(format!(
        "{}: {status} {}",
        words.join(" "),
        said.join(" / ")
    ))
}

/// Splits at blanks outside quotes; `None` if a quote stays open. Backslashes are plain.
fn split_words(text: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    for c in text.chars() {
        match (quote, c) {
            (Some(open), _) if c == open => quote = None,
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, _) if c.is_whitespace() => words.extend(word.take()),
            _ => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    quote.is_none().then_some(words)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::image8::Channels;

    fn copying(encode: &str) -> Result<External, CodecError> {
        External::new(ExternalSpec::of_user(
            "copy",
            encode,
            "cp {in} {out}",
            "1,2",
        ))
    }

    #[test]
    fn words_keep_quoted_blanks() {
        let words = split_words(r#"sh -c 'cp "$0" x' {in} "" a"b c"d"#).unwrap();
        assert_eq!(words, ["sh", "-c", "cp \"$0\" x", "{in}", "", "ab cd"]);
        assert_eq!(split_words("sh -c 'oops"), None);
    }

    #[test]
    fn definitions_are_checked() {
        let error = copying("cp {in}").unwrap_err().to_string();
        assert!(error.contains("{out} is missing"), "{error}");
        let spec = ExternalSpec::of_user("a/b", "cp {in} {out}", "cp {in} {out}", "1");
        assert!(External::new(spec).is_err());
        let spec = ExternalSpec::of_user("ab", "cp {in} {out}", "cp {in} {out}", "");
        assert!(External::new(spec).is_err());
    }

    #[test]
    fn a_copying_codec_is_lossless() {
        let codec = copying("cp {in} {out}").unwrap();
        let picture = Image8::new(3, 2, Channels::Rgb, (0..18).collect()).unwrap();
        let encoded = codec.encode(&picture, &Quality::new("1")).unwrap();
        assert!(encoded.own_cost.is_some());
        let decoded = codec.decode(&encoded.value).unwrap();
        assert_eq!(decoded.value, picture);
    }

    #[test]
    fn a_failing_command_is_quoted() {
        let codec = copying("sh -c 'echo no {q} today >&2; exit 3' {in} {out}").unwrap();
        let picture = Image8::new(1, 1, Channels::Gray, vec![0]).unwrap();
        let error = codec.encode(&picture, &Quality::new("7")).unwrap_err();
        let text = error.to_string();
        assert!(text.contains("no 7 today") && text.contains('3'), "{text}");
    }
}
