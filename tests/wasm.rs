//! The npm package and its page in a real browser and in Node. Not among the usual tests, for they need what
//! `cargo xtask wasm` builds, Chromium, ChromeDriver and Node: `cargo test --test wasm -- --ignored`.

#[allow(dead_code, reason = "generators use other parts")]
#[path = "conformance_support/mod.rs"]
mod conformance;
#[path = "wasm_support/server.rs"]
mod server;
#[allow(dead_code, reason = "other tests use other parts")]
#[path = "rd_support/webdriver.rs"]
mod webdriver;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use conformance::{Entry, MANIFEST, REFERENCE_DICTIONARY, folder, packs_folder, reference_folder};
use moxcms::ColorProfile;
use serde_json::{Value, json};
use server::Server;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};
use tessera_codec::{Encoder, Picture};
use tessera_eval::image8::{Channels, Image8};
use tessera_eval::metrics::ssimulacra2;
use tessera_pack::PackWriter;
use webdriver::Browser;

fn workspace() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// What `cargo xtask wasm` has built.
fn built() -> PathBuf {
    let folder = workspace().join("target/wasm");
    assert!(
        folder.join("tessera.html").exists(),
        "run `cargo xtask wasm` first"
    );
    folder
}

/// A picture of many tiles, and the file it becomes.
fn tiled() -> (Picture, Vec<u8>) {
    let (width, height) = (300, 200);
    let sample = |i: u32| ((i % 900 * 7 + i / 900 * 3) % 251) as u8;
    let picture = Picture::rgb8(width, height, (0..width * height * 3).map(sample).collect());
    let picture = picture.unwrap();
    let encoded = Encoder::new().effort(1).tile_log2(6).encode(&picture);
    (picture, encoded.unwrap().bytes)
}

/// A file of one tile that begins with a preview.
fn previewed() -> Vec<u8> {
    let sample = |i: u32| ((i % 900 * 7 + i / 900 * 3) % 251) as u8;
    let picture = Picture::rgb8(300, 300, (0..300 * 300 * 3).map(sample).collect());
    let encoder = Encoder::new().effort(1).quality(90).preview(true);
    encoder.encode(&picture.unwrap()).unwrap().bytes
}

/// A picture of one colour and four tiles with the profile of wide displays, and one with the profile of sRGB.
fn profiled() -> [Vec<u8>; 2] {
    [ColorProfile::new_display_p3(), ColorProfile::new_srgb()].map(|profile| {
        let mut picture = Picture::rgb8(100, 100, [200, 100, 50].repeat(10_000)).unwrap();
        picture.metadata.icc = Some(profile.encode().unwrap());
        let encoder = Encoder::new().effort(1).tile_log2(6).lossless(true);
        encoder.encode(&picture).unwrap().bytes
    })
}

/// A pack of three pictures whose profile lies in it once.
fn pack_with_shared_profile() -> Vec<u8> {
    let [wide, _] = profiled();
    let mut writer = PackWriter::new(Vec::new(), None).unwrap();
    for name in ["a", "b", "c"] {
        writer.add(name, &wide).unwrap();
    }
    let pack = writer.finish().unwrap();
    assert!(pack.len() < 2 * wide.len(), "{} bytes", pack.len());
    pack
}

struct Site {
    browser: Browser,
    server: Server,
}

impl Site {
    /// A browser at an empty page of a server that has everything.
    fn open() -> Self {
        Self::open_with(tiled().1)
    }

    /// The same with another file at `/slow.tsr`.
    fn open_with(slow: Vec<u8>) -> Self {
        let folders = vec![("/built/", built()), ("/streams/", folder())];
        let server = Server::start(folders, slow);
        let browser = Browser::start().expect("chromium and chromedriver are installed");
        browser.visit(&server.url("/"));
        Self { browser, server }
    }

    /// Runs a script with the package at hand as `tessera`.
    fn run(&self, body: &str) -> Value {
        self.browser.script(&format!(
            "return import('/built/tessera-codec/index.js').then(async (tessera) => {{ {body} }})"
        ))
    }
}

/// What a page that does not come to its end can say about it.
const STATE: &str = "
    const tiles = [...document.querySelectorAll('.tile')].map(({ className, title }) => [className, title]);
    const text = (id) => document.getElementById(id)?.textContent;
    return { visible: document.visibilityState, message: text('message'), status: text('status'), tiles };";

/// Waits for a script to return something else than nothing or false.
fn wait_for(browser: &Browser, body: &str) -> Value {
    let deadline = Instant::now() + Duration::from_secs(120);
    loop {
        let value = browser.script(body);
        if !value.is_null() && value != false {
            return value;
        }
        if Instant::now() > deadline {
            panic!("never became true: {body}\n{}", browser.script(STATE));
        }
        std::thread::sleep(Duration::from_millis(100));
    }
}

const BASE64: &str = "
    const base64 = (array) => {
        const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
        let text = '';
        for (let at = 0; at < bytes.length; at += 4096) text += String.fromCharCode(...bytes.subarray(at, at + 4096));
        return btoa(text);
    };";

fn entries(folder: &Path) -> Vec<Entry> {
    let manifest = fs::read_to_string(folder.join(MANIFEST)).unwrap();
    manifest
        .lines()
        .map(|line| Entry::parse(line).unwrap())
        .collect()
}

fn hash(base64: &Value) -> String {
    let bytes = STANDARD.decode(base64.as_str().unwrap()).unwrap();
    blake3::hash(&bytes).to_hex().to_string()
}

#[test]
#[ignore = "needs `cargo xtask wasm` and Chromium"]
fn conformance_streams_decode_to_their_hashes_in_chromium() {
    let site = Site::open();
    for entry in entries(&folder()) {
        let samples = site.run(&format!(
            "{BASE64} return base64((await tessera.decodeSamples(await fetch('/streams/{}'))).data)",
            entry.file
        ));
        assert_eq!(hash(&samples), entry.samples, "{}", entry.file);
    }
    for entry in entries(&reference_folder()) {
        let samples = site.run(&format!(
            "{BASE64}
             self.own ??= await (await fetch('/streams/references/{REFERENCE_DICTIONARY}')).arrayBuffer();
             const file = await fetch('/streams/references/{}');
             return base64((await tessera.decodeSamples(file, {{ dictionaries: [self.own] }})).data)",
            entry.file
        ));
        assert_eq!(hash(&samples), entry.samples, "{}", entry.file);
    }
}

#[test]
#[ignore = "needs `cargo xtask wasm` and Node"]
fn the_package_works_in_node() {
    let folder = tempfile::tempdir().unwrap();
    let tests = workspace().join("crates/tessera-wasm/tests/node.test.mjs");
    let (picture, file) = tiled();
    fs::write(folder.path().join("tiled.tsr"), &file).unwrap();
    fs::write(folder.path().join("previewed.tsr"), previewed()).unwrap();
    fs::write(folder.path().join("shared.tsp"), pack_with_shared_profile()).unwrap();
    for (name, file) in ["wide.tsr", "srgb.tsr"].iter().zip(profiled()) {
        fs::write(folder.path().join(name), file).unwrap();
    }
    let decoded = tessera_codec::decode(&file).unwrap();
    let tessera_codec::Samples::U8(samples) = decoded.samples() else {
        panic!("eight bits went in");
    };
    fs::write(folder.path().join("tiled.rgb"), samples).unwrap();
    assert_eq!(picture.width(), 300);
    let status = Command::new("node")
        .arg("--test")
        .arg(tests)
        .env("TESSERA_PACKAGE", built().join("tessera-codec"))
        .env("TESSERA_FIXTURES", workspace().join("fixtures"))
        .env("TESSERA_OUT", folder.path())
        .status()
        .expect("node is installed");
    assert!(status.success());
    for entry in entries(&conformance::folder()) {
        let samples = fs::read(folder.path().join(&entry.file)).unwrap();
        let found = blake3::hash(&samples).to_hex().to_string();
        assert_eq!(found, entry.samples, "{}", entry.file);
    }
    for [file, name, expected] in pack_pictures() {
        let written = format!("{file}-{}", name.replace('/', "-"));
        let samples = fs::read(folder.path().join(written)).unwrap();
        let found = blake3::hash(&samples).to_hex().to_string();
        assert_eq!(found, expected, "{name} in {file}");
    }
}

/// File, name and hash of every picture of the conformance packs.
fn pack_pictures() -> Vec<[String; 3]> {
    let manifest = fs::read_to_string(packs_folder().join(MANIFEST)).unwrap();
    let columns = |line: &str| {
        let columns: Vec<String> = line.split('\t').map(str::to_owned).collect();
        columns.try_into().unwrap()
    };
    manifest.lines().map(columns).collect()
}

#[test]
#[ignore = "needs `cargo xtask wasm` and Chromium"]
fn packs_hold_their_pictures_in_chromium() {
    let site = Site::open();
    for [file, name, expected] in pack_pictures() {
        let samples = site.run(&format!(
            "{BASE64}
             const answer = await fetch('/streams/packs/{file}');
             const pack = await tessera.openPack(await answer.blob());
             if (!pack.names.includes('{name}')) return 'not there';
             return base64((await pack.decodeSamples('{name}')).data)"
        ));
        assert_eq!(hash(&samples), expected, "{name} in {file}");
    }
}

#[test]
#[ignore = "needs `cargo xtask wasm` and Chromium"]
fn the_page_shows_a_pack_as_a_gallery() {
    let browser = Browser::start().expect("chromium and chromedriver are installed");
    browser.open(&built().join("tessera.html"));
    let pack = fs::read(packs_folder().join("dictionary.tsp")).unwrap();
    drop_file(&browser, "three.tsp", &pack);
    let drawn = "const tiles = [...document.querySelectorAll('.tile.drawn')];
        return tiles.length === 3 && tiles.map((tile) => [tile.dataset.name, tile.querySelector('canvas').width]);";
    let tiles = wait_for(&browser, drawn);
    assert_eq!(
        tiles,
        json!([["by start", 24], ["in full", 24], ["without", 24]])
    );
    let title = browser.script("return document.getElementById('pack').textContent");
    assert!(
        title.as_str().unwrap().starts_with("three.tsp: 3 pictures"),
        "{title}"
    );
    if let Some(path) = std::env::var_os("TESSERA_SCREENSHOT_PACK") {
        fs::write(path, STANDARD.decode(browser.screenshot()).unwrap()).unwrap();
    }
    browser.script("document.querySelector('.tile').click()");
    let link =
        "const link = document.getElementById('download'); return !link.hidden && link.download;";
    assert_eq!(wait_for(&browser, link), "by start.png");
    browser.script("document.getElementById('back').click()");
    let shown = "return [document.getElementById('gallery').hidden, document.getElementById('stage').hidden]";
    assert_eq!(browser.script(shown), json!([false, true]));
    // One picture is damaged, the others are seen.
    let damaged = fs::read(packs_folder().join("wrong-entry.tsp")).unwrap();
    drop_file(&browser, "damaged.tsp", &damaged);
    let failed = "if (!document.getElementById('pack').textContent.startsWith('damaged.tsp')) return false;
        const states = [...document.querySelectorAll('.tile')].map(({ className }) => className.split(' ')[1]);
        return states.length === 3 && states.every(Boolean) && states.sort();";
    let states = wait_for(&browser, failed);
    assert_eq!(
        states,
        json!(["drawn", "drawn", "failed"]),
        "{}",
        browser.script(STATE)
    );
    drop_file(&browser, "cut.tsp", &pack[..pack.len() - 3]);
    let said = "const said = document.getElementById('message').textContent;
        return said.startsWith('cut.tsp') && said;";
    let said = wait_for(&browser, said);
    assert!(
        said.as_str().unwrap().contains("no index that is whole"),
        "{said}"
    );
    nothing_was_fetched(&browser);
}

/// An element that shows `/slow.tsr`, and a script that returns its size and how many pixels it has painted, once it has any.
fn show_slowly(site: &Site) -> &'static str {
    site.browser.script(
        "self.shown = import('/built/tessera-codec/element.js').then(() => {
             const picture = document.createElement('tessera-img');
             picture.addEventListener('load', () => { self.loaded = true; });
             picture.alt = 'waves';
             picture.src = '/slow.tsr';
             document.body.append(picture);
         });",
    );
    "
        const canvas = document.querySelector('tessera-img')?.shadowRoot.querySelector('canvas');
        if (!canvas?.width) return false;
        const pixels = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
        let opaque = 0;
        for (let at = 3; at < pixels.length; at += 4) opaque += pixels[at] === 255;
        return opaque > 0 && [canvas.width, canvas.height, opaque, self.loaded === true];"
}

#[test]
#[ignore = "needs `cargo xtask wasm` and Chromium"]
fn a_preview_fills_a_picture_while_the_rest_is_on_its_way() {
    let site = Site::open_with(previewed());
    let painted = show_slowly(&site);
    let early = wait_for(&site.browser, painted);
    assert_eq!(early, json!([300, 300, 300 * 300, false]));
    site.server.send_the_rest();
    wait_for(&site.browser, "return self.loaded");
}

#[test]
#[ignore = "needs `cargo xtask wasm` and Chromium"]
fn tiles_appear_while_the_rest_of_a_picture_is_on_its_way() {
    let site = Site::open();
    let painted = show_slowly(&site);
    let early = wait_for(&site.browser, painted);
    assert_eq!((&early[0], &early[1]), (&json!(300), &json!(200)));
    let opaque = early[2].as_u64().unwrap();
    assert!((1..300 * 200).contains(&opaque), "{opaque} pixels of 60000");
    assert_eq!(early[3], false);
    site.server.send_the_rest();
    wait_for(&site.browser, "return self.loaded");
    assert_eq!(site.browser.script(painted)[2], 300 * 200);
}

#[test]
#[ignore = "needs `cargo xtask wasm` and Chromium"]
fn ordinary_images_show_and_the_dictionary_is_kept() {
    let site = Site::open();
    site.browser
        .script("return import('/built/tessera-codec/polyfill.js').then(() => {})");
    site.browser.script(
        "document.body.insertAdjacentHTML('beforeend', '<p><img src=\"/streams/tiles.tsr\"></p>')",
    );
    let size = "const image = document.querySelector('p img');
        return image.naturalWidth > 0 && [image.naturalWidth, image.dataset.tesseraSrc];";
    let shown = wait_for(&site.browser, size);
    assert_eq!(shown[1], "/streams/tiles.tsr");
    let kept = site.browser.script(
        "return caches.open('tessera-codec').then((cache) => cache.keys()).then((keys) => keys.map((key) => key.url))",
    );
    let kept = kept.as_array().unwrap();
    assert_eq!(kept.len(), 1);
    assert!(kept[0].as_str().unwrap().ends_with(".tsd"), "{kept:?}");
}

#[test]
#[ignore = "needs `cargo xtask wasm` and Chromium"]
fn workers_decode_what_one_thread_decodes_and_can_be_stopped() {
    let site = Site::open();
    let (_, file) = tiled();
    let expected = tessera_codec::decode(&file).unwrap();
    site.server.send_the_rest();
    let samples = site.run(&format!(
        "{BASE64}
         await tessera.init({{ workers: 3 }});
         const file = await (await fetch('/slow.tsr')).arrayBuffer();
         const {{ data, width }} = await tessera.decode(file);
         const part = await tessera.decode(file, {{ region: {{ x: 50, y: 60, width: 70, height: 10 }} }});
         const same = part.data.every((value, at) => value === data[((60 + Math.floor(at / 280)) * width + 50) * 4 + at % 280]);
         const controller = new AbortController();
         const stopped = tessera.decode(file, {{ signal: controller.signal }}).then(() => 'done', (error) => error.name);
         controller.abort();
         const small = await tessera.decode(file, {{ maxSide: 30 }});
         return [base64(data.filter((_, at) => at % 4 !== 3)), same, await stopped, small.width, small.height];"
    ));
    let tessera_codec::Samples::U8(expected) = expected.samples() else {
        panic!("eight bits went in");
    };
    assert_eq!(
        hash(&samples[0]),
        blake3::hash(expected).to_hex().to_string()
    );
    let rest = samples.as_array().unwrap()[1..].to_vec();
    assert_eq!(
        rest,
        [json!(true), json!("AbortError"), json!(30), json!(20)]
    );
}

#[test]
#[ignore = "needs `cargo xtask wasm` and Chromium"]
fn small_pictures_are_decoded_side_by_side() {
    let site = Site::open();
    // Header and pixels of one picture go to different workers here.
    let widths = site.run(
        "await tessera.init({ workers: 3 });
         const file = await (await fetch('/streams/odd.tsr')).arrayBuffer();
         const image = () => tessera.decode(file, { maxSide: 20 }).then(({ width }) => width, ({ message }) => message);
         return Promise.all(Array.from({ length: 24 }, image));",
    );
    let widths = widths.as_array().unwrap();
    assert!(widths.iter().all(|width| width.is_u64()), "{widths:?}");
}

#[test]
#[ignore = "needs `cargo xtask wasm` and Chromium"]
fn colours_of_a_profile_are_turned_into_srgb_by_a_module_that_others_do_without() {
    let site = Site::open();
    let wide = STANDARD.encode(&profiled()[0]);
    let found = site.run(&format!(
        "await tessera.init({{ workers: 2 }});
         const loaded = () => performance.getEntriesByType('resource').some(({{ name }}) => name.endsWith('colour.wasm'));
         await tessera.decode(await fetch('/streams/tiles.tsr'));
         const before = loaded();
         const file = Uint8Array.from(atob('{wide}'), (letter) => letter.charCodeAt(0));
         const {{ data }} = await tessera.decode(file);
         const [red, green, blue] = data;
         const even = data.every((value, at) => value === data[at % 4]);
         return [before, loaded(), even, red > 205 && green < 100 && blue < 45, data[3]];"
    ));
    assert_eq!(found, json!([false, true, true, true, 255]));
}

/// Drops a file on the page.
fn drop_file(browser: &Browser, name: &str, content: &[u8]) {
    let content = STANDARD.encode(content);
    browser.script(&format!(
        "const bytes = Uint8Array.from(atob('{content}'), (letter) => letter.charCodeAt(0));
         const carried = new DataTransfer();
         carried.items.add(new File([bytes], '{name}'));
         dispatchEvent(new DragEvent('drop', {{ dataTransfer: carried, cancelable: true }}));"
    ));
}

const CARDS: &str = "
    const cards = [...document.querySelectorAll('.card')].map(({ dataset }) => ({ ...dataset }));
    return document.getElementById('status').textContent.startsWith('encoded') && cards;";

/// The number a card has.
fn figure(cards: &Value, version: &str, name: &str) -> f64 {
    let cards = cards.as_array().unwrap();
    let card = cards.iter().find(|card| card["version"] == version);
    let figure = card.and_then(|card| card[name].as_str());
    let figure = figure.unwrap_or_else(|| panic!("{version} has no {name}: {cards:?}"));
    figure.parse().unwrap()
}

#[test]
#[ignore = "needs `cargo xtask wasm` and Chromium"]
fn the_page_of_one_file_codes_a_photo_and_shows_it() {
    let browser = Browser::start().expect("chromium and chromedriver are installed");
    browser.open(&built().join("tessera.html"));
    let photo = fs::read(workspace().join("fixtures/photos/coffee.png")).unwrap();
    drop_file(&browser, "coffee.png", &photo);
    let cards = wait_for(&browser, CARDS);
    let bytes = figure(&cards, "tessera", "bytes");
    for peer in ["webp", "jpeg"] {
        let ratio = figure(&cards, peer, "bytes") / bytes;
        assert!((0.85..1.05).contains(&ratio), "{peer}: {ratio}");
        assert!(figure(&cards, peer, "score") < figure(&cards, "tessera", "score"));
    }
    assert_eq!(figure(&cards, "original", "bytes"), photo.len() as f64);
    the_download_is_the_picture(&browser, &photo, &cards);
    the_divider_moves(&browser);
    quality_changes_the_file(&browser, bytes);
    if let Some(path) = std::env::var_os("TESSERA_SCREENSHOT") {
        fs::write(path, STANDARD.decode(browser.screenshot()).unwrap()).unwrap();
    }
    nothing_was_fetched(&browser);
}

/// The file that is offered decodes natively, and its score is the one on the page.
fn the_download_is_the_picture(browser: &Browser, photo: &[u8], cards: &Value) {
    let link = browser.script(&format!(
        "{BASE64} const link = document.getElementById('download');
         return fetch(link.href).then((answer) => answer.arrayBuffer())
             .then((bytes) => [link.download, base64(new Uint8Array(bytes))]);"
    ));
    assert_eq!(link[0], "coffee.tsr");
    let file = STANDARD.decode(link[1].as_str().unwrap()).unwrap();
    assert_eq!(file.len() as f64, figure(cards, "tessera", "bytes"));
    let decoded = tessera_codec::decode(&file).unwrap();
    let (width, height) = (decoded.width(), decoded.height());
    let tessera_codec::Samples::U8(samples) = decoded.into_samples() else {
        panic!("eight bits went in");
    };
    let decoded = Image8::new(width, height, Channels::Rgb, samples).unwrap();
    let original = Image8::from_encoded(photo).unwrap();
    let score = ssimulacra2(&original, &decoded).unwrap().unwrap();
    let shown = figure(cards, "tessera", "score");
    assert!(
        (score - shown).abs() < 0.1,
        "{shown} in the page, {score} here"
    );
}

fn the_divider_moves(browser: &Browser) {
    let split = "return [getComputedStyle(document.getElementById('divider')).left,
        document.getElementById('layers').getBoundingClientRect().width].map(parseFloat)";
    browser.script(
        "const slider = document.getElementById('slider');
         slider.value = 25;
         slider.dispatchEvent(new Event('input'));",
    );
    let quarter = browser.script(split);
    let [left, width] = [0, 1].map(|at| quarter[at].as_f64().unwrap());
    assert!((left - width / 4.0).abs() < 1.0, "{quarter}");
    browser.script(
        "const layers = document.getElementById('layers');
         const { left, top, width } = layers.getBoundingClientRect();
         layers.setPointerCapture = () => {};
         layers.dispatchEvent(new PointerEvent('pointerdown', { clientX: left + width * 0.75, clientY: top + 5 }));
         layers.dispatchEvent(new PointerEvent('pointerup', {}));",
    );
    let dragged = browser.script(split)[0].as_f64().unwrap();
    assert!((dragged - width * 0.75).abs() < 1.0, "{dragged} of {width}");
}

fn quality_changes_the_file(browser: &Browser, before: f64) {
    browser.script(
        "const quality = document.getElementById('quality');
         quality.value = 20;
         quality.dispatchEvent(new Event('input'));
         document.getElementById('status').textContent = '';",
    );
    let cards = wait_for(browser, CARDS);
    let after = figure(&cards, "tessera", "bytes");
    assert!(after < 0.7 * before, "{after} bytes after {before}");
}

#[test]
#[ignore = "needs `cargo xtask wasm` and Chromium"]
fn the_page_shows_files_and_says_what_is_wrong_with_them() {
    let browser = Browser::start().expect("chromium and chromedriver are installed");
    browser.open(&built().join("tessera.html"));
    let (_, file) = tiled();
    drop_file(&browser, "waves.tsr", &file);
    let note = "const note = document.getElementById('note').textContent; return note.includes('decoded') && note;";
    let note = wait_for(&browser, note);
    assert!(
        note.as_str().unwrap().starts_with("300 × 200, 20 tiles"),
        "{note}"
    );
    let link =
        "const link = document.getElementById('download'); return !link.hidden && link.download;";
    assert_eq!(wait_for(&browser, link), "waves.png");
    let mut damaged = file.clone();
    damaged[file.len() / 2] ^= 1;
    let long = [&file[..], &[0]].concat();
    for (name, content, part) in [
        ("damaged.tsr", &damaged[..], "damaged.tsr: tile"),
        ("cut.tsr", &file[..file.len() - 9], "truncated"),
        ("long.tsr", &long, "unknown data after the last tile"),
        ("note.txt", b"hello", "cannot read it as a picture"),
        ("empty.jpg", b"", "cannot read it as a picture"),
        ("no.tsd", b"TSD?", "no.tsd: "),
    ] {
        drop_file(&browser, name, content);
        let said = format!(
            "const said = document.getElementById('message').textContent;
             return said.startsWith('{name}') && said;"
        );
        let said = wait_for(&browser, &said);
        assert!(said.as_str().unwrap().contains(part), "{name}: {said}");
    }
    nothing_was_fetched(&browser);
}

/// Everything is inside the file.
fn nothing_was_fetched(browser: &Browser) {
    let fetched = browser.script(
        "return performance.getEntriesByType('resource').map((entry) => entry.name)
             .filter((name) => !/^(data|blob):/.test(name));",
    );
    assert_eq!(fetched, json!([]));
}

#[test]
#[ignore = "needs `cargo xtask wasm` and Chromium"]
fn the_page_works_from_a_server_too() {
    let site = Site::open();
    site.browser
        .visit(&site.server.url("/built/page/index.html"));
    wait_for(&site.browser, "return document.readyState === 'complete'");
    site.browser
        .script("document.getElementById('sample').click()");
    let cards = wait_for(&site.browser, CARDS);
    assert!(figure(&cards, "tessera", "score") > 50.0);
}
