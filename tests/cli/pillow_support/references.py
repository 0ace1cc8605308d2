"""Writes what Pillow makes of every file below a folder, upright, as PNG.

Usage: references.py FOLDER OUTPUT

A file that Pillow cannot read gets no reference. Of several pages or frames the first is taken.
"""

import pathlib
import sys
import warnings

from PIL import Image, ImageCms, ImageOps

warnings.simplefilter("ignore")

DEEP = ("I;16", "I;16B", "I;16L")


def colours(image):
    """The picture in a mode that PNG has, with nothing lost that we keep."""
    if image.mode in DEEP:
        # The direct way between the two byte orders clips at 255.
        return image.convert("I").convert("I;16")
    if image.mode == "I":
        return image.convert("I;16") if image.getextrema()[0] >= 0 else None
    if image.mode == "F":
        return None
    if image.mode == "LAB":
        lab, srgb = ImageCms.createProfile("LAB"), ImageCms.createProfile("sRGB")
        return ImageCms.profileToProfile(image, lab, srgb, outputMode="RGB")
    return image.convert("RGBA")


def main():
    folder, output = map(pathlib.Path, sys.argv[1:3])
    output.mkdir(parents=True, exist_ok=True)
    for path in sorted(folder.rglob("*")):
        if not path.is_file():
            continue
        name = "__".join(path.relative_to(folder).parts) + ".png"
        try:
            image = Image.open(path)
            image.load()
            image = colours(ImageOps.exif_transpose(image))
            if image is not None:
                image.info = {}
                image.save(output / name, format="PNG", icc_profile=None, compress_level=1)
        except Exception:  # noqa: BLE001: whatever Pillow cannot read has no reference.
            (output / name).unlink(missing_ok=True)


main()
