//! The page to try it on, in two forms: files to be served, and one file that works from a disk.

use super::bundle::bundle;
use super::{Artefacts, gzip, read, save};
use anyhow::{Context, Result};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use std::fs;
use std::path::Path;

/// The photo that whoever has none at hand can try.
const SAMPLE: &str = "../../fixtures/photos/chelsea.png";

/// In the page of one file everything lies in elements of its own, packed, and is unpacked when it is asked for.
const INLINE_ASSETS: &str = "
async function inlined(id) {
  const text = document.getElementById(`inlined-${id}`).textContent;
  const packed = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const plain = new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'));
  return new Response(plain).arrayBuffer();
}
const workerUrl = () => URL.createObjectURL(new Blob([document.getElementById('inlined-worker').textContent], { type: 'text/javascript' }));
const ASSETS = {
  decoder: () => inlined('codec'),
  encoder: () => inlined('codec'),
  colour: () => inlined('colour'),
  dictionary: () => inlined('dictionary'),
  worker: () => new Worker(workerUrl()),
  sample: () => inlined('sample'),
};
";

/// Writes `page/` and `tessera.html` into `out`, which already has the package.
pub(super) fn write(sources: &Path, artefacts: &Artefacts, out: &Path) -> Result<()> {
    let page = sources.join("page");
    let sample = sources.join(SAMPLE);
    let sample = fs::read(&sample).with_context(|| format!("cannot read {}", sample.display()))?;
    for name in [
        "index.html",
        "page.css",
        "page.js",
        "compare.js",
        "gallery.js",
        "peers.js",
    ] {
        let text = read(&page.join(name))?.replace("../npm/", "../tessera-codec/");
        save(&out.join("page").join(name), text)?;
    }
    save(&out.join("page/sample.png"), &sample)?;
    let html = one_file(&page, &sources.join("npm"), artefacts, &sample)?;
    save(&out.join("tessera.html"), html)
}

/// The page with all it needs inside. The encoder's module decodes as well, so the decoder's is not among it.
fn one_file(page: &Path, npm: &Path, artefacts: &Artefacts, sample: &[u8]) -> Result<String> {
    let replaced = [("assets.js", INLINE_ASSETS)];
    let worker = bundle(&npm.join("worker.js"), &replaced)?;
    let script = bundle(&page.join("page.js"), &replaced)?;
    let style = read(&page.join("page.css"))?;
    let mut inlined = String::new();
    for (id, content) in [
        ("codec", &artefacts.encoder[..]),
        ("colour", &artefacts.colour),
        ("dictionary", &artefacts.dictionary),
        ("sample", sample),
    ] {
        let packed = STANDARD.encode(gzip(content)?);
        inlined += &format!("<script type=\"text/plain\" id=\"inlined-{id}\">{packed}</script>\n");
    }
    inlined += &format!("<script type=\"text/plain\" id=\"inlined-worker\">{worker}</script>\n");
    inlined += &format!("<script type=\"module\">\n{script}</script>");
    let html = read(&page.join("index.html"))?;
    replaced_once(&html, STYLE, &format!("<style>\n{style}</style>"))
        .and_then(|html| replaced_once(&html, SCRIPT, &inlined))
}

const STYLE: &str = "<link rel=\"stylesheet\" href=\"page.css\">";
const SCRIPT: &str = "<script type=\"module\" src=\"page.js\"></script>";

/// Replaces a part that must be there.
fn replaced_once(text: &str, part: &str, by: &str) -> Result<String> {
    let (before, behind) = text
        .split_once(part)
        .with_context(|| format!("the page has no {part}"))?;
    Ok(format!("{before}{by}{behind}"))
}
