#!/usr/bin/env python3
"""Times `tessera` and the installed codecs side by side and prints megapixels per CPU second and ratios.

    benches/speed.py PICTURE.png... [--tessera target/release/tessera] [--runs 3] [--efforts 1,5,9]

Every command runs on one thread; the CPU time of the whole process counts, start-up included, and the least of the runs.
Commands take turns, so that a busy neighbour slows all of them. What is not installed is left out. Our quality 60 and level 30 of
avifenc have nearly the same PSNR-YUV (ours 0.2 dB less on kodim07 and kodim19); rates and qualities of the others differ, sizes are printed
beside the speeds.
"""
import argparse
import os
import resource
import shutil
import struct
import subprocess
import sys
import tempfile


def commands(tessera, efforts):
    """Name, encoder, decoder, ending; `{i}` and `{o}` stand for the files."""
    for effort in efforts:
        encode = f"{tessera} --quiet encode {{i}} -o {{o}} -q 60 -e {effort} --threads 1 --force"
        decode = f"{tessera} --quiet decode {{i}} -o {{o}} --threads 1 --force"
        yield f"tessera -e {effort}", encode, decode, "tsr"
    for speed in (4, 6, 8):
        quality = "--min 30 --max 30 -a end-usage=q -a cq-level=30 -a tune=psnr"
        encode = f"avifenc -s {speed} -j 1 -y 444 {quality} {{i}} {{o}}"
        yield f"avifenc -s {speed}", encode, "avifdec -j 1 {i} {o}", "avif"
    for effort in (3, 7):
        encode = f"cjxl -e {effort} -d 1.5 --num_threads=0 {{i}} {{o}}"
        yield f"cjxl -e {effort}", encode, "djxl --num_threads=0 {i} {o}", "jxl"
    yield "cwebp -m 6", "cwebp -quiet -m 6 -q 85 {i} -o {o}", "dwebp -quiet {i} -o {o}", "webp"


def pixels(png):
    try:
        with open(png, "rb") as file:
            head = file.read(24)
    except OSError as error:
        sys.exit(f"{png}: {error.strerror}")
    if len(head) < 24 or head[12:16] != b"IHDR":
        sys.exit(f"{png}: no PNG file; the peers' tools agree on no other format")
    width, height = struct.unpack(">II", head[16:])
    return width * height


def cpu_time(command, source, target):
    """CPU seconds of a command."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    line = [word.format(i=source, o=target) for word in command.split()]
    done = subprocess.run(line, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, errors="replace")
    if done.returncode != 0:
        sys.exit(f"{' '.join(line)} failed: {done.stderr.strip() or 'it says nothing'}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pictures", nargs="+", help="PNG files")
    parser.add_argument("--tessera", default="target/release/tessera")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--efforts", default="1,5")
    options = parser.parse_args()
    area = sum(map(pixels, options.pictures)) / 1e6
    codecs = [codec for codec in commands(options.tessera, options.efforts.split(",")) if shutil.which(codec[1].split()[0])]
    totals = {codec[0]: [0.0, 0.0, 0.0] for codec in codecs}
    with tempfile.TemporaryDirectory() as folder:
        for picture in options.pictures:
            runs = {codec[0]: [] for codec in codecs}
            for _ in range(options.runs):
                for name, encode, decode, ending in codecs:
                    coded, back = (os.path.join(folder, file) for file in ("coded." + ending, "back.png"))
                    runs[name].append((cpu_time(encode, picture, coded), cpu_time(decode, coded, back), os.path.getsize(coded)))
            for name, measured in runs.items():
                totals[name] = [total + min(values) for total, values in zip(totals[name], zip(*measured))]
    usual = next((name for name in totals if name.endswith("-e 5")), next(iter(totals)))
    print(f"{area:.2f} megapixels; ratios are to {usual}")
    print(f"{'':16} {'bpp':>6} {'encode MP/s':>12} {'ratio':>6} {'decode MP/s':>12} {'ratio':>6}")
    for name, (encode, decode, size) in totals.items():
        ratios = [totals[usual][0] / encode, totals[usual][1] / decode]
        print(f"{name:16} {size * 8e-6 / area:6.2f} {area / encode:12.2f} {ratios[0]:6.2f} {area / decode:12.2f} {ratios[1]:6.2f}")


if __name__ == "__main__":
    main()
