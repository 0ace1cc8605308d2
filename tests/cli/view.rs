//! `tessera view`, over plain HTTP and in a browser.

#[path = "../rd_support/webdriver.rs"]
#[allow(dead_code, reason = "the report's tests use the rest")]
mod webdriver;

use crate::command::{Folder, USAGE, run};
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use webdriver::Browser;

/// A running viewer; it ends with the value.
struct Viewer {
    child: Child,
    port: u16,
    /// With a slash at either end.
    secret: String,
}

impl Viewer {
    fn start(arguments: &[&Path]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_tessera"))
            .args(["view", "--no-open"])
            .args(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let out = child.stdout.take().unwrap();
        BufReader::new(out).read_line(&mut line).unwrap();
        let address = line.trim_end().strip_prefix("http://127.0.0.1:").unwrap();
        let (port, rest) = address.split_once('/').unwrap();
        Self {
            child,
            port: port.parse().unwrap(),
            secret: format!("/{rest}"),
        }
    }

    fn address(&self) -> String {
        format!("http://127.0.0.1:{}{}", self.port, self.secret)
    }

    /// Status, headers and body of an answer.
    fn get(&self, path: &str) -> (u16, String, Vec<u8>) {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        let port = self.port;
        write!(
            stream,
            "GET {path} HTTP/1.1\r\nHost: localhost:{port}\r\n\r\n"
        )
        .unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        let end = answer.windows(4).position(|at| at == b"\r\n\r\n").unwrap();
        let head = String::from_utf8(answer[..end].to_vec()).unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        (status, head, answer.split_off(end + 4))
    }

    fn get_below(&self, path: &str) -> (u16, String, Vec<u8>) {
        self.get(&format!("{}{path}", self.secret))
    }
}

impl Drop for Viewer {
    fn drop(&mut self) {
        let _gone_already = self.child.kill();
        let _status = self.child.wait();
    }
}

/// Two pictures, one of them below, and a damaged one.
fn folder() -> Folder {
    let folder = Folder::new();
    let picture = folder.picture("a.png");
    fs::create_dir(folder.path("sub")).unwrap();
    for name in ["a.tsr", "sub/<b>.tsr", "z damaged.tsr"] {
        let coded = run("encode {} -o {}", &[&picture, &folder.path(name)]);
        assert!(coded.status.success());
    }
    let damaged = folder.path("z damaged.tsr");
    let mut bytes = fs::read(&damaged).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    fs::write(damaged, bytes).unwrap();
    folder
}

#[test]
fn pictures_are_served_to_those_who_know_the_address() {
    let folder = folder();
    let viewer = Viewer::start(&[folder.0.path(), &folder.path("a.png")]);
    let (status, head, page) = viewer.get_below("");
    let page = String::from_utf8(page).unwrap();
    assert_eq!(status, 200);
    assert!(head.contains("Content-Security-Policy: default-src 'none'"));
    assert!(page.contains(r#"["a.tsr","z damaged.tsr","sub/\u003cb>.tsr","a.png"]"#));
    for path in [
        "/",
        "/index.html",
        "/00000000000000000000000000000000/",
        "/../etc/passwd",
    ] {
        assert_eq!(viewer.get(path).0, 403, "{path}");
    }
    let decoded = |path: &str| {
        let (status, head, png) = viewer.get_below(path);
        assert!(
            status == 200 && head.contains("image/png"),
            "{path}: {head}"
        );
        image::load_from_memory(&png).unwrap()
    };
    for picture in ["picture/0", "picture/2", "picture/3", "thumbnail/2"] {
        assert_eq!(decoded(picture).width(), 20);
    }
    for scaled in ["picture/0?side=10", "picture/3?side=10"] {
        assert_eq!(decoded(scaled).height(), 6);
    }
    let info = String::from_utf8(viewer.get_below("info/0").2).unwrap();
    assert!(info.contains("20 x 12 pixels"), "{info}");
    let (status, _, sentence) = viewer.get_below("picture/1");
    let sentence = String::from_utf8(sentence).unwrap();
    assert_eq!(status, 422);
    assert!(sentence.contains("z damaged.tsr") && sentence.contains("damaged, fetch it again"));
    assert_eq!(viewer.get_below("picture/4").0, 404);
}

#[test]
fn there_must_be_something_to_see() {
    let folder = Folder::new();
    let empty = run("view --no-open {}", &[folder.0.path()]);
    assert_eq!(empty.status.code(), Some(USAGE));
    let missing = run("view --no-open {}", &[&folder.path("none.tsr")]);
    assert_eq!(missing.status.code(), Some(1));
}

#[test]
fn the_page_works_in_a_browser() {
    let Some(browser) = Browser::start() else {
        let missing = "chromium and chromedriver are not installed";
        assert!(std::env::var_os("CI").is_none(), "{missing}");
        println!("skipped: {missing}");
        return;
    };
    let folder = folder();
    let viewer = Viewer::start(&["--until-closed".as_ref(), folder.0.path()]);
    browser.visit(&viewer.address());
    overview_shows_thumbnails(&browser);
    keys_lead_through_pictures(&browser);
    damage_is_told(&browser);
    closing_the_page_ends_the_command(&browser, viewer);
}

/// Runs `condition` in the page until it is true.
fn wait_for(browser: &Browser, condition: &str) {
    let wait = format!(
        "const end = Date.now() + 20000;
         while (!({condition}) && Date.now() < end) await new Promise((go) => setTimeout(go, 30));
         return Boolean({condition});"
    );
    let met = browser.script(&format!("return (async () => {{ {wait} }})()"));
    assert_eq!(met, true, "{condition}");
}

fn press(browser: &Browser, key: &str) {
    browser.script(&format!(
        "dispatchEvent(new KeyboardEvent('keydown', {{ key: '{key}' }}))"
    ));
}

fn overview_shows_thumbnails(browser: &Browser) {
    wait_for(
        browser,
        "document.querySelectorAll('#overview a').length === 3",
    );
    wait_for(
        browser,
        "document.querySelectorAll('#overview img')[0].naturalWidth === 20",
    );
    wait_for(
        browser,
        "document.querySelectorAll('#overview a.failed').length === 1",
    );
    let label = browser.script("return document.querySelectorAll('#overview span')[2].innerHTML");
    assert_eq!(label, "sub/&lt;b&gt;.tsr");
}

fn keys_lead_through_pictures(browser: &Browser) {
    browser.script("document.querySelector('#overview a').click()");
    wait_for(
        browser,
        "document.querySelector('#stage.fit img')?.naturalWidth === 20",
    );
    press(browser, "1");
    let ratio = "document.querySelector('#stage:not(.fit) img')?.getBoundingClientRect().width * devicePixelRatio";
    wait_for(browser, &format!("{ratio} === 20"));
    press(browser, "+");
    wait_for(browser, &format!("{ratio} === 40"));
    assert_eq!(
        browser.script("return document.getElementById('zoom').textContent"),
        "200 %"
    );
    press(browser, "i");
    wait_for(
        browser,
        "document.getElementById('details').textContent.includes('20 x 12 pixels')",
    );
    press(browser, "ArrowLeft");
    wait_for(
        browser,
        "document.getElementById('name').textContent === 'sub/<b>.tsr (3 of 3)'",
    );
    press(browser, "ArrowRight");
    wait_for(browser, "location.hash === '#0'");
    press(browser, "Escape");
    wait_for(browser, "document.getElementById('one').hidden");
}

fn damage_is_told(browser: &Browser) {
    browser.script("location.hash = '#1'");
    wait_for(
        browser,
        "document.getElementById('problem')?.textContent.includes('damaged')",
    );
}

fn closing_the_page_ends_the_command(browser: &Browser, mut viewer: Viewer) {
    browser.visit("about:blank");
    let status = viewer.child.wait().unwrap();
    assert!(status.success());
}
