//! Speed of whole encodes and decodes on one thread, in samples of luma (pixels) per second.
//!
//! The picture is a fixture photo, or the file named by `TESSERA_BENCH_PICTURE` (a Kodak picture, say).

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use std::path::Path;
use tessera_codec::image_io::read_picture;
use tessera_codec::{Decoder, Encoder, Picture};

fn picture() -> Picture {
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/photos/coffee.png");
    let file = std::env::var_os("TESSERA_BENCH_PICTURE").map_or(fixture, Into::into);
    let bytes = std::fs::read(&file).expect("the picture can be read");
    read_picture(&bytes).expect("the file is a picture")
}

fn encoder(quality: u8, effort: u8) -> Encoder {
    Encoder::new().quality(quality).effort(effort).threads(1)
}

fn codec(criterion: &mut Criterion) {
    let picture = picture();
    let mut group = criterion.benchmark_group("codec");
    group.sample_size(10);
    group.throughput(Throughput::Elements(picture.pixels()));
    for effort in [1, 5] {
        group.bench_function(format!("encode, quality 60, effort {effort}"), |bencher| {
            bencher.iter(|| encoder(60, effort).encode(&picture));
        });
    }
    for quality in [30, 60, 80] {
        let file = encoder(quality, 5)
            .encode(&picture)
            .expect("a picture encodes");
        let bits = 8.0 * file.bytes.len() as f64 / picture.pixels() as f64;
        group.bench_function(
            format!("decode, quality {quality}, {bits:.2} bpp"),
            |bencher| {
                bencher.iter(|| Decoder::new().threads(1).decode(&file.bytes));
            },
        );
    }
    group.finish();
}

criterion_group!(benches, codec);
criterion_main!(benches);
