//! The interface of tessera-codec stays small enough to be known by heart.

/// Most names a user of the crate may have to know, those of the feature `image` included.
const MOST_ITEMS: usize = 64;

/// The names that `pub use` lines outside of `internals` bring out of a module, and its public modules.
fn public_items(module: &str) -> Vec<String> {
    let (module, _) = module
        .split_once("pub mod internals")
        .unwrap_or((module, ""));
    let mut items = Vec::new();
    for statement in module.split(';').map(|text| text.replace('\n', " ")) {
        if let Some((_, path)) = statement.split_once("pub use ") {
            let names = match path.split_once('{') {
                Some((_, list)) => list.trim_end_matches(['}', ' ']).to_owned(),
                None => path.rsplit("::").next().unwrap_or(path).to_owned(),
            };
            let names = names.split(',').map(|name| name.trim().to_owned());
            items.extend(names.filter(|name| !name.is_empty()));
        } else if let Some((_, name)) = statement.split_once("pub mod ") {
            items.push(name.trim().to_owned());
        }
    }
    items
}

#[test]
fn fewer_than_sixty_four_items_are_public() {
    let mut items = public_items(include_str!("../crates/tessera-codec/src/lib.rs"));
    items.extend(public_items(include_str!(
        "../crates/tessera-codec/src/image_io/mod.rs"
    )));
    assert!(items.len() < MOST_ITEMS, "{}: {items:?}", items.len());
    for known in [
        "CodedPicture",
        "Encoder",
        "TesseraDecoder",
        "image_io",
        "read_picture",
    ] {
        assert!(
            items.iter().any(|item| item == known),
            "{known} in {items:?}"
        );
    }
}
