#!/usr/bin/env python3
"""Crops of pictures beside AVIF at equal bytes: the picture of the README.

    benches/crops.py FOLDER OUT.webp

FOLDER holds astronaut.png, rocket.jpg, chelsea.png and page.png of scikit-image (`skimage/data` in its wheel; all of them
public domain or CC0). Needs `tessera` in the path and a Pillow with AVIF (libavif with aom).
"""

import io
import os
import subprocess
import sys
import tempfile

from PIL import Image, ImageDraw

# File, corner of the crop, bits per pixel.
CROPS = [("astronaut.png", (165, 20), 0.4), ("rocket.jpg", (150, 240), 0.3), ("chelsea.png", (95, 60), 0.4), ("page.png", (0, 20), 0.5)]
SIDE, ZOOM, GAP, HEAD = 160, 2, 8, 24


def avif(picture, target):
    """The file nearest to a size, by Pillow's own defaults but for speed 6 and full chroma."""

    def encode(quality):
        out = io.BytesIO()
        chroma = "4:0:0" if picture.mode == "L" else "4:4:4"
        picture.save(out, "AVIF", quality=quality, speed=6, subsampling=chroma)
        return out.getvalue()

    return min((encode(quality) for quality in range(5, 70)), key=lambda file: abs(len(file) - target))


def tessera(picture, size):
    """The decoded picture of a file of at most `size` bytes."""
    with tempfile.TemporaryDirectory() as folder:
        original, coded, decoded = (os.path.join(folder, name) for name in ("o.png", "c.tsr", "d.png"))
        picture.save(original)
        run = lambda *line: subprocess.run(["tessera", *line, "--quiet"], check=True)
        run("encode", original, "-o", coded, "--target-size", str(size))
        run("decode", coded, "-o", decoded)
        return Image.open(decoded).copy()


def row(folder, name, corner, bpp):
    picture = Image.open(os.path.join(folder, name))
    picture = picture.convert("L" if picture.mode == "L" else "RGB")
    file = avif(picture, int(picture.width * picture.height * bpp / 8))
    versions = [picture, tessera(picture, len(file)), Image.open(io.BytesIO(file))]
    box = (*corner, corner[0] + SIDE, corner[1] + SIDE)
    return [version.convert("RGB").crop(box).resize((SIDE * ZOOM,) * 2, Image.NEAREST) for version in versions]


def main(folder, out):
    step = SIDE * ZOOM + GAP
    sheet = Image.new("RGB", (3 * step - GAP, HEAD + len(CROPS) * step - GAP), "white")
    draw = ImageDraw.Draw(sheet)
    for column, title in enumerate(("original", "Tessera", "AVIF, same bytes")):
        draw.text((column * step + 6, 6), title, fill="black")
    for y, crop in enumerate(CROPS):
        for x, version in enumerate(row(folder, *crop)):
            sheet.paste(version, (x * step, HEAD + y * step))
    sheet.save(out, quality=88)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
