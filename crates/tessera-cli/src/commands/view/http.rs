//! As much of HTTP/1.1 as a page on this machine needs: one request a connection.

use std::io::{self, BufRead, BufReader, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

/// Whoever takes longer to say what they want is not a browser.
const PATIENCE: Duration = Duration::from_secs(10);
/// Most bytes of a request.
const LONGEST: u64 = 1 << 14;

/// What is asked for.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Request {
    pub(super) method: String,
    /// Without the question mark and what follows.
    pub(super) path: String,
    /// What follows.
    pub(super) query: String,
    pub(super) host: String,
}

impl Request {
    /// Reads a request to the end of its headers.
    ///
    /// # Errors
    /// When it ends too early, is too long or no HTTP.
    pub(super) fn read(stream: &TcpStream) -> io::Result<Self> {
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        Self::parse(BufReader::new(stream.take(LONGEST)))
    }

    fn parse(reader: impl BufRead) -> io::Result<Self> {
        let mut lines = reader.lines();
        let mut line = || lines.next().unwrap_or(Err(ErrorKind::UnexpectedEof.into()));
        let first = line()?;
        let mut words = first.split(' ');
        let (method, target) = match (words.next(), words.next(), words.next(), words.next()) {
            (Some(method), Some(target), Some(version), None) if version.starts_with("HTTP/1.") => {
                (method, target)
            }
            _ => return Err(ErrorKind::InvalidData.into()),
        };
        let mut host = String::new();
        loop {
            let header = line()?;
            match header.split_once(':') {
                Some((name, value)) if name.eq_ignore_ascii_case("host") => {
                    host = value.trim().to_owned();
                }
                None if header.is_empty() => break,
                _ => {}
            }
        }
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        Ok(Self {
            method: method.to_owned(),
            path: path.to_owned(),
            query: query.to_owned(),
            host,
        })
    }

    /// The number that the query gives for a name.
    pub(super) fn number(&self, name: &str) -> Option<u32> {
        let mut pairs = self
            .query
            .split('&')
            .filter_map(|pair| pair.split_once('='));
        pairs.find(|(key, _)| *key == name)?.1.parse().ok()
    }
}

/// What is answered.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Response {
    status: &'static str,
    kind: &'static str,
    body: Vec<u8>,
}

/// The page runs its own script and shows pictures from here; nothing else is let in or out.
const GUARDS: &str = "Content-Security-Policy: default-src 'none'; img-src 'self' blob:; connect-src 'self'; \
    style-src 'unsafe-inline'; script-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'\r\n\
    X-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\nCross-Origin-Resource-Policy: same-origin\r\n";

impl Response {
    pub(super) fn new(kind: &'static str, body: impl Into<Vec<u8>>) -> Self {
        Self {
            status: "200 OK",
            kind,
            body: body.into(),
        }
    }

    /// A refusal in a sentence.
    pub(super) fn refusal(status: &'static str, sentence: &str) -> Self {
        Self {
            status,
            kind: "text/plain; charset=utf-8",
            body: format!("{sentence}\n").into_bytes(),
        }
    }

    /// # Errors
    /// When the other side has gone.
    pub(super) fn write(&self, mut out: impl Write) -> io::Result<()> {
        let (status, kind, length) = (self.status, self.kind, self.body.len());
        let head = format!(
            "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n\
             Cache-Control: no-store\r\n{GUARDS}Connection: close\r\n\r\n"
        );
        out.write_all(head.as_bytes())?;
        out.write_all(&self.body)?;
        out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_read_or_refused() {
        let asked = b"GET /a/b?side=32&x=y HTTP/1.1\r\nHOST: localhost:1\r\nAccept: */*\r\n\r\n";
        let request = Request::parse(&asked[..]).unwrap();
        assert_eq!(
            (request.path.as_str(), request.host.as_str()),
            ("/a/b", "localhost:1")
        );
        assert_eq!(
            (request.number("side"), request.number("x")),
            (Some(32), None)
        );
        let garbage: [&[u8]; 5] = [
            b"",
            b"\r\n\r\n",
            b"GET / HTTP/1.1\r\n",
            b"GET /\r\n\r\n",
            b"\xff\xfe HTTP/1.1 \n\n",
        ];
        for bytes in garbage {
            assert!(Request::parse(bytes).is_err(), "{bytes:?}");
        }
    }
}
