//! Files over HTTP on loopback, for tests in a browser: an empty page, folders, and one file that arrives in two parts.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

/// Ends with the process: tests are short.
pub(crate) struct Server {
    port: u16,
    go_on: Sender<()>,
}

/// What is served.
struct Site {
    /// Folders by the first part of an address.
    folders: Vec<(&'static str, PathBuf)>,
    /// The file at `/slow.tsr`: its second half is sent when the test says so.
    slow: Vec<u8>,
    wait: Mutex<Receiver<()>>,
}

impl Server {
    /// Starts to serve folders, and a file at `/slow.tsr`.
    pub(crate) fn start(folders: Vec<(&'static str, PathBuf)>, slow: Vec<u8>) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
        let port = listener.local_addr().unwrap().port();
        let (go_on, wait) = channel();
        let site = Arc::new(Site {
            folders,
            slow,
            wait: Mutex::new(wait),
        });
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let site = Arc::clone(&site);
                thread::spawn(move || site.answer(stream));
            }
        });
        Self { port, go_on }
    }

    /// The address of a path.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    /// Lets the second half of `/slow.tsr` go.
    pub(crate) fn send_the_rest(&self) {
        self.go_on.send(()).expect("the server runs");
    }
}

impl Site {
    /// A browser may hang up at any time, which is no failure of a test.
    fn answer(&self, mut stream: TcpStream) {
        let mut lines = BufReader::new(&stream).lines().map_while(Result::ok);
        let Some(first) = lines.next() else {
            return;
        };
        for _ in lines.by_ref().take_while(|line| !line.is_empty()) {}
        let path = first.split(' ').nth(1).unwrap_or("/").to_owned();
        let path = path.split('?').next().unwrap_or("/");
        let _ = match path {
            "/" => send(&mut stream, "200 OK", "text/html", b"<!doctype html><body>"),
            "/slow.tsr" => self.send_slowly(&mut stream),
            _ => self.send_file(&mut stream, path),
        };
    }

    fn send_file(&self, stream: &mut TcpStream, path: &str) -> std::io::Result<()> {
        let found = self.folders.iter().find_map(|(name, folder)| {
            let rest = path.strip_prefix(name)?;
            fs::read(folder.join(rest)).ok()
        });
        match found {
            Some(body) => send(stream, "200 OK", mime(path), &body),
            None => send(stream, "404 Not Found", "text/plain", b"not here"),
        }
    }

    fn send_slowly(&self, stream: &mut TcpStream) -> std::io::Result<()> {
        let (start, rest) = self.slow.split_at(self.slow.len() / 2);
        write_head(
            stream,
            "200 OK",
            "application/octet-stream",
            self.slow.len(),
        )?;
        stream.write_all(start)?;
        stream.flush()?;
        let _ = self.wait.lock().expect("no test panicked here").recv();
        stream.write_all(rest)
    }
}

fn send(stream: &mut TcpStream, status: &str, mime: &str, body: &[u8]) -> std::io::Result<()> {
    write_head(stream, status, mime, body.len())?;
    stream.write_all(body)
}

fn write_head(
    stream: &mut TcpStream,
    status: &str,
    mime: &str,
    length: usize,
) -> std::io::Result<()> {
    write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Type: {mime}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
    )
}

fn mime(path: &str) -> &'static str {
    match Path::new(path)
        .extension()
        .and_then(|ending| ending.to_str())
    {
        Some("html") => "text/html",
        Some("js") => "text/javascript",
        Some("css") => "text/css",
        Some("wasm") => "application/wasm",
        Some("png") => "image/png",
        _ => "application/octet-stream",
    }
}
