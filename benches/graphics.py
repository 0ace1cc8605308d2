#!/usr/bin/env python3
"""Bytes of graphics at equal PSNR, beside AVIF: benches/graphics.py TESSERA PICTURE... [--quantisers 20 45] [--effort 3]

Each picture is coded by `avifenc -s 4 -y 444` at some quantisers, then by `tessera encode --target-psnr` at the PSNR (over RGB) of
what AVIF gave. What is compared was decoded again. `cargo run --example drawings -- DIR` writes the drawings of the tests. Needs avifenc, avifdec, numpy and Pillow.
"""

import argparse
import pathlib
import subprocess
import tempfile

import numpy
from PIL import Image


def psnr(one, other):
    """Over all samples of RGB, in decibels."""
    a, b = (numpy.asarray(Image.open(path).convert("RGB"), float) for path in (one, other))
    error = ((a - b) ** 2).mean()
    return float("inf") if error == 0 else 10 * numpy.log10(255**2 / error)


def run(*command):
    subprocess.run([str(part) for part in command], check=True, capture_output=True)


def by_avif(picture, quantiser, folder):
    """Bytes and PSNR of AVIF."""
    coded, decoded = folder / "a.avif", folder / "a.png"
    level = ["--min", quantiser, "--max", quantiser, "-a", "end-usage=q", "-a", f"cq-level={quantiser}"]
    run("avifenc", "-s", 4, "-y", 444, *level, picture, coded)
    run("avifdec", coded, decoded)
    return coded.stat().st_size, psnr(picture, decoded)


def by_tessera(tessera, picture, decibels, effort, folder):
    """Bytes and PSNR of Tessera."""
    coded, decoded = folder / "t.tsr", folder / "t.png"
    target = ["--target-psnr", f"{decibels:.2f}", "--tune", "psnr", "--effort", effort]
    run(tessera, "encode", picture, "-o", coded, "--force", *target)
    run(tessera, "decode", coded, "-o", decoded, "--force")
    return coded.stat().st_size, psnr(picture, decoded)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tessera")
    parser.add_argument("pictures", nargs="+", type=pathlib.Path)
    parser.add_argument("--quantisers", nargs="+", type=int, default=[20, 45])
    parser.add_argument("--effort", type=int, default=3)
    options = parser.parse_args()
    print("| picture | dB | AVIF | Tessera | |\n|---|--:|--:|--:|--:|")
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for original in options.pictures:
            # AVIF reads few formats.
            picture = folder / "original.png"
            Image.open(original).save(picture)
            for quantiser in options.quantisers:
                avif, wanted = by_avif(picture, quantiser, folder)
                ours, reached = by_tessera(options.tessera, picture, wanted, options.effort, folder)
                change = 100 * (ours / avif - 1)
                print(f"| {original.stem} | {wanted:.1f} / {reached:.1f} | {avif} | {ours} | {change:+.1f} % |", flush=True)


if __name__ == "__main__":
    main()
