//! The page and what it asks for, on the loopback interface only.

use super::gallery::Gallery;
use super::http::{Request, Response};
use super::render;
use crate::commands::info;
use crate::exit;
use anyhow::{Context, Result};
use serde_json::json;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Open pages tell every few seconds that they are there, hidden ones once a minute.
const ABSENT: Duration = Duration::from_secs(150);
/// A page that was left may only have been loaded again.
const LEFT: Duration = Duration::from_secs(3);
/// Side of the pictures in the overview.
pub(super) const THUMBNAIL: u32 = 360;

/// A page that is being served.
#[derive(Debug)]
pub(super) struct Server {
    listener: TcpListener,
    port: u16,
    shared: Arc<Shared>,
}

/// What every connection needs.
#[derive(Debug)]
struct Shared {
    gallery: Gallery,
    /// The secret part of the address.
    token: String,
    hosts: [String; 2],
    /// When to believe that the page is closed.
    closed: Mutex<Instant>,
    /// One picture is decoded at a time, by all cores.
    turn: Mutex<()>,
}

impl Server {
    /// Takes any free port.
    ///
    /// # Errors
    /// When there is none, or no randomness.
    pub(super) fn start(gallery: Gallery) -> Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0));
        let listener = listener.context("cannot listen on 127.0.0.1")?;
        let port = listener.local_addr()?.port();
        let mut secret = [0; 16];
        getrandom::fill(&mut secret).context("the system has no random numbers")?;
        let shared = Shared {
            gallery,
            token: secret.iter().map(|byte| format!("{byte:02x}")).collect(),
            hosts: ["127.0.0.1", "localhost"].map(|name| format!("{name}:{port}")),
            closed: Mutex::new(Instant::now() + ABSENT),
            turn: Mutex::new(()),
        };
        Ok(Self {
            listener,
            port,
            shared: Arc::new(shared),
        })
    }

    /// The address of the page.
    pub(super) fn address(&self) -> String {
        format!("http://127.0.0.1:{}/{}/", self.port, self.shared.token)
    }

    /// Answers until the process is ended, or, if so wished, until nobody looks at the page any more.
    ///
    /// # Errors
    /// When no connection can be taken.
    pub(super) fn serve(self, until_closed: bool) -> Result<()> {
        let shared = Arc::clone(&self.shared);
        if until_closed {
            let accept = move || self.accept();
            std::thread::spawn(accept);
            while let Some(left) = shared.left_open() {
                std::thread::sleep(left);
            }
            return Ok(());
        }
        self.accept()
    }

    fn accept(self) -> Result<()> {
        for stream in self.listener.incoming() {
            let stream = stream.context("cannot take connections")?;
            let shared = Arc::clone(&self.shared);
            std::thread::spawn(move || shared.answer(&stream));
        }
        Ok(())
    }
}

impl Shared {
    fn answer(&self, stream: &TcpStream) {
        let response = match Request::read(stream) {
            Ok(request) => self.respond(&request),
            Err(_) => Response::refusal("400 Bad Request", "this is no request"),
        };
        // Whoever has gone does not need to know.
        let _gone = response.write(stream);
    }

    /// Only those who know the token, and pages that came from here, are told anything.
    fn respond(&self, request: &Request) -> Response {
        let inside = request.path.strip_prefix('/');
        let inside = inside.and_then(|path| path.strip_prefix(self.token.as_str()));
        let own_host = self.hosts.contains(&request.host);
        let Some(place) = inside.filter(|_| own_host) else {
            return Response::refusal("403 Forbidden", "the address has a secret part");
        };
        let left = place == "/left";
        self.expect_until(Instant::now() + if left { LEFT } else { ABSENT });
        match (request.method.as_str(), place) {
            ("GET", "/") => Response::new("text/html; charset=utf-8", self.page()),
            ("GET" | "POST", "/here" | "/left") => Response::new("text/plain", ""),
            ("GET", _) => self.picture(place, request),
            _ => Response::refusal("405 Method Not Allowed", "only GET is understood"),
        }
    }

    /// `/thumbnail/N`, `/picture/N` (of at most `side` pixels) and `/info/N`.
    fn picture(&self, place: &str, request: &Request) -> Response {
        let mut parts = place.split('/').skip(1);
        let (what, number) = (parts.next(), parts.next());
        let number = number.and_then(|number| number.parse::<usize>().ok());
        let entry = number.and_then(|number| self.gallery.pictures.get(number));
        let Some(entry) = entry.filter(|_| parts.next().is_none()) else {
            return Response::refusal("404 Not Found", "there is no such picture");
        };
        let png = |side| {
            let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
            let png = render::png(&self.gallery, entry, side)?;
            Ok(Response::new("image/png", png))
        };
        let made = match what {
            Some("thumbnail") => png(Some(THUMBNAIL)),
            Some("picture") => png(request.number("side").filter(|&side| side > 0)),
            Some("info") => {
                info::text(&entry.path).map(|text| Response::new("text/plain; charset=utf-8", text))
            }
            _ => return Response::refusal("404 Not Found", "there is no such thing"),
        };
        let failed = |error| Response::refusal("422 Unprocessable Content", &exit::message(&error));
        made.unwrap_or_else(failed)
    }

    fn page(&self) -> String {
        let names: Vec<&str> = (self.gallery.pictures.iter())
            .map(|entry| entry.name.as_str())
            .collect();
        // Inside a script nothing may look like its end.
        let names = json!(names).to_string().replace('<', "\\u003c");
        include_str!("page.html").replace("/*NAMES*/[]", &names)
    }

    fn expect_until(&self, time: Instant) {
        *self.closed.lock().unwrap_or_else(PoisonError::into_inner) = time;
    }

    /// How long the page is known to be open.
    fn left_open(&self) -> Option<Duration> {
        let closed = *self.closed.lock().unwrap_or_else(PoisonError::into_inner);
        let left = closed.checked_duration_since(Instant::now())?;
        // Leaving moves the end closer, so it is looked at often.
        (!left.is_zero()).then(|| left.min(Duration::from_millis(500)))
    }
}

#[cfg(test)]
mod tests {
    use super::super::gallery::Entry;
    use super::*;

    fn server() -> Server {
        let entry = Entry {
            path: "gone.tsr".into(),
            name: "</script>.tsr".into(),
        };
        let gallery = Gallery {
            pictures: vec![entry],
            dictionary: None,
        };
        Server::start(gallery).unwrap()
    }

    fn status(server: &Server, method: &str, path: &str, host: &str) -> String {
        let request = Request {
            method: method.into(),
            path: path.into(),
            query: String::new(),
            host: host.into(),
        };
        let mut out = Vec::new();
        server.shared.respond(&request).write(&mut out).unwrap();
        let text = String::from_utf8_lossy(&out).into_owned();
        text.split(' ').nth(1).unwrap().to_owned()
    }

    #[test]
    fn strangers_are_told_nothing() {
        let server = server();
        let own = format!("127.0.0.1:{}", server.port);
        let token = server.shared.token.clone();
        let page = format!("/{token}/");
        assert_eq!(token.len(), 32);
        assert_ne!(token, self::server().shared.token);
        assert_eq!(status(&server, "GET", &page, &own), "200");
        assert_eq!(status(&server, "GET", &page, "evil.example"), "403");
        assert_eq!(status(&server, "GET", "/", &own), "403");
        assert_eq!(
            status(&server, "GET", &format!("/{}/", "0".repeat(32)), &own),
            "403"
        );
        assert_eq!(status(&server, "POST", &page, &own), "405");
        for (place, expected) in [
            ("thumbnail/1", "404"),
            ("thumbnail/../1", "404"),
            ("other/0", "404"),
            ("picture/0", "422"),
            ("info/0", "422"),
            ("here", "200"),
        ] {
            assert_eq!(
                status(&server, "GET", &format!("{page}{place}"), &own),
                expected
            );
        }
    }

    #[test]
    fn names_stay_text() {
        let page = server().shared.page();
        assert_eq!(page.matches("</script>").count(), 1);
        assert!(page.contains("\\u003c/script>.tsr"));
    }

    #[test]
    fn a_page_that_was_left_is_closed_soon() {
        let server = server();
        let path = format!("/{}/left", server.shared.token);
        assert_eq!(
            status(&server, "POST", &path, &server.shared.hosts[1]),
            "200"
        );
        let closed = *server.shared.closed.lock().unwrap();
        assert!(closed <= Instant::now() + LEFT);
        server.shared.expect_until(Instant::now());
        assert_eq!(server.shared.left_open(), None);
    }
}
