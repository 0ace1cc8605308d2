//! The report in a real browser: skipped where Chromium and ChromeDriver are not installed, which in CI is a failure.

#[allow(dead_code, reason = "each test file uses its part")]
mod rd_support;
#[path = "rd_support/webdriver.rs"]
mod webdriver;

use base64::Engine;
use rd_support::{quick_request, run, write_picture};
use serde_json::json;
use std::fs;
use tessera_eval::image8::Image8;
use tessera_eval::report::{BlindTest, BlindVersion};
use webdriver::Browser;

/// Where a dot of the visible plot is, and what it should say.
const FIRST_DOT: &str = "
    const dot = document.querySelector('#plots figure:not([hidden]) circle');
    dot.scrollIntoView({ block: 'center' });
    const box = dot.getBoundingClientRect();
    return [box.x + box.width / 2, box.y + box.height / 2, dot.dataset.tip];";

/// Sets a control as a user would.
fn choose(browser: &Browser, id: &str, value: &str) {
    browser.script(&format!(
        "const control = document.getElementById('{id}');
         control.value = '{value}';
         control.dispatchEvent(new Event('input', {{ bubbles: true }}));
         control.dispatchEvent(new Event('change', {{ bubbles: true }}));"
    ));
}

/// A browser; in CI there must be one, elsewhere tests without one are skipped aloud.
fn browser() -> Option<Browser> {
    let browser = Browser::start();
    if browser.is_none() {
        let missing = "chromium and chromedriver are not installed";
        assert!(std::env::var_os("CI").is_none(), "{missing}");
        println!("skipped: {missing}");
    }
    browser
}

#[test]
fn the_report_works_in_a_browser() {
    let Some(browser) = browser() else {
        return;
    };
    let pictures = tempfile::tempdir().unwrap();
    for (name, seed) in [("wave.png", 0), ("<b>&'\"odd.png", 1)] {
        write_picture(&pictures.path().join(name), seed);
    }
    let folder = tempfile::tempdir().unwrap();
    let mut request = quick_request(pictures.path(), folder.path());
    request.viewer.pictures = 2;
    run(&request);
    browser.open(&folder.path().join("report.html"));

    one_plot_is_shown_at_a_time(&browser);
    hovering_shows_values(&browser);
    the_viewer_compares_at_equal_size(&browser);
    nothing_is_fetched(&browser);
    if let Some(path) = std::env::var_os("TESSERA_SCREENSHOT") {
        let png = base64::engine::general_purpose::STANDARD.decode(browser.screenshot());
        fs::write(path, png.unwrap()).unwrap();
    }
}

#[test]
fn blind_tests_are_blind_and_count() {
    let Some(browser) = browser() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let mut test = BlindTest::new("</script>A", "B");
    for seed in 0..3 {
        let path = folder.path().join(format!("{seed}.png"));
        write_picture(&path, seed);
        let original = Image8::read(&path).unwrap();
        let version = |bytes| BlindVersion {
            picture: &original,
            bytes,
        };
        test.add(
            format!("picture {seed}"),
            &original,
            [version(10), version(20)],
        )
        .unwrap();
    }
    let page = folder.path().join("blind.html");
    fs::write(&page, test.page().unwrap()).unwrap();
    browser.open(&page);
    let visible = browser.script("return document.body.innerText");
    let visible = visible.as_str().unwrap();
    assert!(
        visible.contains("1 of 3") && !visible.contains("bytes"),
        "{visible}"
    );
    let shown = "return document.getElementById('left').style.backgroundImage.slice(0, 20)";
    assert_eq!(browser.script(shown), "url(\"data:image/webp");
    for key in ["ArrowLeft", "ArrowRight", "ArrowDown"] {
        browser.script(&format!(
            "dispatchEvent(new KeyboardEvent('keydown', {{ key: '{key}' }}))"
        ));
    }
    let result = browser.script("return result()");
    assert_eq!(result["no_difference"], 1);
    assert_eq!(result["a"], "</script>A");
    let votes = [&result["prefer_a"], &result["prefer_b"]].map(|n| n.as_u64().unwrap());
    assert_eq!(votes.iter().sum::<u64>(), 2);
    let answers = result["answers"].as_array().unwrap();
    let left = &answers[0];
    assert_eq!(left["left"], left["choice"]);
    assert_ne!(answers[1]["left"], answers[1]["choice"]);
    let end = browser.script("return document.getElementById('end').innerText");
    assert!(end.as_str().unwrap().contains("30 bytes"), "{end}");
    assert_eq!(browser.script("return chance(8, 0)"), 0.0078125);
    nothing_is_fetched(&browser);
}

fn one_plot_is_shown_at_a_time(browser: &Browser) {
    let shown = "return [...document.querySelectorAll('#plots figure:not([hidden])')]
        .map((figure) => [figure.dataset.metric, figure.dataset.picture]);";
    assert_eq!(browser.script(shown), json!([["psnr-y", ""]]));
    choose(browser, "plot-metric", "ms-ssim");
    choose(browser, "plot-picture", "wave");
    assert_eq!(browser.script(shown), json!([["ms-ssim", "wave"]]));
    let dots = browser
        .script("return document.querySelectorAll('#plots figure:not([hidden]) circle').length");
    assert_eq!(dots, 14);
}

fn hovering_shows_values(browser: &Browser) {
    let tip = "const tip = document.getElementById('tip'); return [tip.hidden, tip.textContent];";
    assert_eq!(browser.script(tip)[0], true);
    let place = browser.script(FIRST_DOT);
    browser.move_mouse(place[0].as_f64().unwrap(), place[1].as_f64().unwrap());
    assert_eq!(browser.script(tip), json!([false, place[2]]));
    let text = place[2].as_str().unwrap();
    assert!(text.contains("bpp") && text.contains("MS-SSIM"), "{text}");
    browser.move_mouse(5.0, 5.0);
    assert_eq!(browser.script(tip)[0], true);
}

fn the_viewer_compares_at_equal_size(browser: &Browser) {
    browser.script("document.getElementById('viewer').scrollIntoView();");
    let state = "
        const image = (id) => document.getElementById(id);
        const caption = (side) => document.getElementById(`caption-${side}`).textContent;
        const bytes = (side) => Number(/(\\d+) bytes/.exec(caption(side))?.[1]);
        return {
            loaded: ['image-original', 'image-left', 'image-right'].map((id) => image(id).naturalWidth),
            clip: image('image-left').style.clipPath,
            left: caption('left'), right: caption('right'), bytes: [bytes('left'), bytes('right')],
            different: image('image-left').src !== image('image-right').src,
        };";
    browser.script(
        "return Promise.all([...document.querySelectorAll('.layers img')].map((i) => i.decode()))",
    );
    let start = browser.script(state);
    assert_eq!(start["loaded"], json!([200, 200, 200]));
    assert_eq!(start["different"], true);
    assert!(
        start["left"].as_str().unwrap().starts_with("webp"),
        "{start}"
    );
    assert!(
        start["right"].as_str().unwrap().starts_with("jpeg"),
        "{start}"
    );
    let bytes = [0, 1].map(|i| start["bytes"][i].as_f64().unwrap());
    assert!((bytes[0] / bytes[1]).ln().abs() < 0.05, "{bytes:?}");
    choose(browser, "view-slider", "25");
    assert_eq!(browser.script(state)["clip"], "inset(0px 75% 0px 0px)");
    choose(browser, "view-right", "original");
    assert_eq!(browser.script(state)["right"], "original");
    choose(browser, "view-zoom", "2");
    let width = browser
        .script("return document.getElementById('image-left').getBoundingClientRect().width");
    assert_eq!(width, 400);
}

/// Everything is inside the file, and odd names stay text.
fn nothing_is_fetched(browser: &Browser) {
    let fetched = browser.script(
        "return performance.getEntriesByType('resource').map((e) => e.name).filter((n) => !n.startsWith('data:'));",
    );
    assert_eq!(fetched, json!([]));
    let bold = browser.script("return document.querySelectorAll('main b').length");
    assert_eq!(bold, 0);
}
