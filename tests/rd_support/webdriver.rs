//! A browser for the tests: ChromeDriver spoken to over plain HTTP, nothing more than they need.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// Chromium's switches for a machine without a screen and with a closed network.
const SWITCHES: [&str; 9] = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--window-size=1400,1000",
];

/// A running browser with one page; it ends with the value.
pub(crate) struct Browser {
    driver: Child,
    port: u16,
    session: String,
    _profile: tempfile::TempDir,
}

impl Browser {
    /// Starts ChromeDriver and Chromium, or `None` if one is not installed.
    pub(crate) fn start() -> Option<Self> {
        let installed = |name: &str| Path::new("/usr/bin").join(name).is_file();
        if !installed("chromium") || !installed("chromedriver") {
            return None;
        }
        let mut driver = Command::new("/usr/bin/chromedriver")
            .arg("--port=0")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("chromedriver starts");
        let port = announced_port(&mut driver);
        let profile = tempfile::tempdir().unwrap();
        let data = format!("--user-data-dir={}", profile.path().display());
        let arguments: Vec<&str> = SWITCHES.into_iter().chain([data.as_str()]).collect();
        let options = json!({ "binary": "/usr/bin/chromium", "args": arguments });
        let wanted =
            json!({ "capabilities": { "alwaysMatch": { "goog:chromeOptions": options } } });
        let answer = request(port, "POST", "/session", &wanted);
        let session = answer["sessionId"].as_str().expect("a session").to_owned();
        Some(Self {
            driver,
            port,
            session,
            _profile: profile,
        })
    }

    fn call(&self, command: &str, body: &Value) -> Value {
        let path = format!("/session/{}/{command}", self.session);
        request(self.port, "POST", &path, body)
    }

    /// Opens a file.
    pub(crate) fn open(&self, path: &Path) {
        self.open_address(&format!("file://{}", path.display()));
    }

    /// Opens a page.
    pub(crate) fn open_address(&self, address: &str) {
        self.call("url", &json!({ "url": address }));
    }

    /// Runs a script's body in the page and returns what it returns.
    pub(crate) fn script(&self, body: &str) -> Value {
        self.call("execute/sync", &json!({ "script": body, "args": [] }))
    }

    /// Moves the mouse to a point of the window.
    pub(crate) fn move_mouse(&self, x: f64, y: f64) {
        let step = json!({ "type": "pointerMove", "duration": 0, "x": x as i64, "y": y as i64 });
        let mouse = json!({ "type": "pointer", "id": "mouse", "actions": [step] });
        self.call("actions", &json!({ "actions": [mouse] }));
    }

    /// A screenshot of the window as PNG, still in base64.
    pub(crate) fn screenshot(&self) -> String {
        let path = format!("/session/{}/screenshot", self.session);
        let answer = request(self.port, "GET", &path, &Value::Null);
        answer.as_str().expect("a picture").to_owned()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let path = format!("/session/{}", self.session);
        if !std::thread::panicking() {
            request(self.port, "DELETE", &path, &Value::Null);
        }
        // The driver takes its browser along; a failed test has nothing left to check.
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}

/// ChromeDriver prints the port it chose.
fn announced_port(driver: &mut Child) -> u16 {
    let lines = BufReader::new(driver.stdout.take().unwrap()).lines();
    let port = lines.map_while(Result::ok).find_map(|line| {
        let (_, end) = line.split_once("started successfully on port ")?;
        end.trim_end_matches('.').parse().ok()
    });
    port.expect("chromedriver names its port")
}

/// One HTTP exchange; the answer's `value`, or a panic with the driver's message.
fn request(port: u16, method: &str, path: &str, body: &Value) -> Value {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).expect("chromedriver listens");
    stream
        .set_read_timeout(Some(Duration::from_secs(120)))
        .unwrap();
    let body = if body.is_null() {
        String::new()
    } else {
        body.to_string()
    };
    let length = body.len();
    let head = format!("{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {length}");
    write!(stream, "{head}\r\nConnection: close\r\n\r\n{body}").unwrap();
    let mut reader = BufReader::new(stream);
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).expect("a header");
        match line.trim_end().to_ascii_lowercase().split_once(':') {
            Some(("content-length", value)) => length = value.trim().parse().unwrap(),
            None if line.trim_end().is_empty() => break,
            _ => {}
        }
    }
    let mut answer = vec![0; length];
    reader.read_exact(&mut answer).expect("a body");
    let answer: Value = serde_json::from_slice(&answer).expect("JSON");
    let value = answer["value"].clone();
    assert!(value.get("error").is_none(), "{method} {path}: {value}");
    value
}
