//! The second process: how it is started, what it does, and what its end means.

use super::refused;
use super::wire::{self, Reply};
use crate::exit::{self, DAMAGED, LIMITS};
use crate::files::Input;
use anyhow::{Context, Result};
use std::ffi::OsString;
use std::io::{BufReader, BufWriter, Read, Write};
use std::path::Path;
use std::process::{ChildStdout, Command, ExitCode, ExitStatus, Stdio};
use tessera_codec::image_io::{self, ReadOptions, open_picture_with};
use tessera_codec::{Error, Picture};

/// The first argument of a process that reads for another.
const ASKED: &str = "--read-for-another-process";
/// Stands for standard input, which no option or file can be called.
const STDIN: &str = "";

/// Processor time for any file, and more for each megabyte of it.
const SECONDS: u64 = 40;
const SECONDS_PER_MEGABYTE: u64 = 1;
/// Address space beyond what a picture may take: the program itself and its allocator's reserve.
const SPARE_BYTES: u64 = 3 << 30;

/// A process that reads one picture.
pub(super) struct Child {
    process: std::process::Child,
    output: BufReader<ChildStdout>,
}

impl Child {
    /// Starts it and hands it the picture.
    pub(super) fn start(program: &Path, input: &Input<'_>, options: ReadOptions) -> Result<Self> {
        let (path, bytes) = match input {
            Input::File { path, .. } => (path.as_os_str(), None),
            Input::Bytes(bytes) => (STDIN.as_ref(), Some(bytes)),
        };
        let seconds = seconds_for(input);
        let mut command = Command::new(program);
        command
            .arg(ASKED)
            .arg(seconds.to_string())
            .arg(options.page.unwrap_or(0).to_string())
            .arg(path)
            .stdin(bytes.map_or_else(Stdio::null, |_| Stdio::piped()))
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut process = command.spawn()?;
        if let (Some(bytes), Some(mut stdin)) = (bytes, process.stdin.take()) {
            // If it ends before it has read everything, its answer says why.
            let _cut_short = stdin.write_all(bytes);
        }
        let output = process.stdout.take().context("no output")?;
        let output = BufReader::new(output);
        Ok(Self { process, output })
    }

    /// Waits for the picture or the reason why there is none.
    pub(super) fn answer(self, input: &Input<'_>) -> Result<(Picture, Vec<String>)> {
        let Self {
            mut process,
            mut output,
        } = self;
        let answer = match wire::receive_line(&mut output) {
            Ok(Reply::Picture(head)) => wire::receive(head, &mut output),
            Ok(Reply::Refused { code, message }) => Err(refused(code, message)),
            Err(error) => Err(error),
        };
        // Nobody listens from here on; else it would wait for us while we wait for it.
        drop(output);
        let status = process.wait()?;
        match answer {
            Err(error) if !status.success() && !error.is::<Error>() => {
                Err(why_it_ended(status, input))
            }
            answer => answer,
        }
    }
}

/// Processor time that reading may take.
fn seconds_for(input: &Input<'_>) -> u64 {
    SECONDS + SECONDS_PER_MEGABYTE * (input.len() as u64 >> 20)
}

/// What to say about a reading process that did not come to its end.
fn why_it_ended(status: ExitStatus, input: &Input<'_>) -> anyhow::Error {
    let advice = "open and save the picture elsewhere first";
    match Ending::of(status) {
        Ending::TooLong => {
            let seconds = seconds_for(input);
            let text = format!("reading it takes more than {seconds} seconds; {advice}");
            refused(LIMITS, text)
        }
        Ending::OutOfMemory => {
            let text = "reading it takes more memory than is allowed or there";
            refused(LIMITS, format!("{text}; {advice}"))
        }
        Ending::Other => {
            let text = "its decoder stopped over it, so it is damaged or very unusual";
            refused(DAMAGED, format!("{text}; {advice}"))
        }
    }
}

/// How a process came to its end.
enum Ending {
    TooLong,
    OutOfMemory,
    Other,
}

impl Ending {
    #[cfg(unix)]
    fn of(status: ExitStatus) -> Self {
        use rustix::process::Signal;
        use std::os::unix::process::ExitStatusExt;
        let signal = status.signal().and_then(Signal::from_named_raw);
        match signal {
            Some(Signal::XCPU) => Self::TooLong,
            Some(Signal::ABORT | Signal::KILL) => Self::OutOfMemory,
            _ => Self::Other,
        }
    }

    #[cfg(not(unix))]
    fn of(_status: ExitStatus) -> Self {
        Self::Other
    }
}

/// Reads for another process if the arguments ask for it; `None` if they do not.
pub fn serve() -> Option<ExitCode> {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next()? != ASKED {
        return None;
    }
    let arguments: Vec<OsString> = arguments.collect();
    Some(match answer(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    })
}

fn answer(arguments: &[OsString]) -> Result<()> {
    let [seconds, page, path] = arguments else {
        anyhow::bail!("three arguments are needed");
    };
    let number = |text: &OsString| text.to_str().and_then(|text| text.parse::<u64>().ok());
    limit(number(seconds).context("no time limit")?);
    misbehave();
    let page = number(page).filter(|&page| page != 0);
    let options = ReadOptions {
        page: page.and_then(|page| u32::try_from(page).ok()),
    };
    let mut bytes = Vec::new();
    let input: image_io::Input<'_> = if path == STDIN {
        std::io::stdin().lock().read_to_end(&mut bytes)?;
        bytes.as_slice().into()
    } else {
        Path::new(path).into()
    };
    let mut output = BufWriter::new(std::io::stdout().lock());
    match open_picture_with(input, options) {
        Ok(mut opened) => wire::send(&mut *opened.source, opened.warnings, &mut output),
        Err(error) => {
            let error = error.into();
            let (code, message) = (exit::code(&error), exit::message(&error));
            wire::send_line(&Reply::Refused { code, message }, &mut output)?;
            Ok(output.flush()?)
        }
    }
}

/// Bounds this process by the means of the system.
#[cfg(unix)]
fn limit(seconds: u64) {
    use rustix::process::{Resource, Rlimit, setrlimit};
    let set = |resource, most| {
        let bound = Rlimit {
            current: Some(most),
            maximum: Some(most + u64::from(most > 0)),
        };
        // A stricter limit may be set already; that one holds then.
        let _stricter = setrlimit(resource, bound);
    };
    set(Resource::As, image_io::ReadOptions::MAX_BYTES + SPARE_BYTES);
    set(Resource::Cpu, seconds);
    set(Resource::Core, 0);
}

#[cfg(not(unix))]
fn limit(_seconds: u64) {}

/// What decoders of others might do, on demand: tests see that it stays in this process.
#[cfg(debug_assertions)]
fn misbehave() {
    match std::env::var("TESSERA_TEST_READER").as_deref() {
        Ok("panic") => panic!("as asked for"),
        Ok("overflow") => println!("{}", recurse(0)),
        Ok("loop") => {
            limit(1);
            loop {
                std::hint::black_box(());
            }
        }
        Ok("allocate") => {
            let mut hoard: Vec<Vec<u8>> = Vec::new();
            loop {
                hoard.push(Vec::with_capacity(1 << 28));
            }
        }
        _ => {}
    }
}

#[cfg(debug_assertions)]
fn recurse(depth: u64) -> u64 {
    let room = std::hint::black_box([depth; 512]);
    let deeper = if depth == u64::MAX {
        0
    } else {
        recurse(depth + 1)
    };
    room[(depth % 512) as usize] + std::hint::black_box(deeper)
}

#[cfg(not(debug_assertions))]
fn misbehave() {}
