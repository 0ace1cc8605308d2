#!/usr/bin/env python3
"""Bytes and speed without loss beside JPEG XL and WebP: benches/lossless.py TESSERA FOLDER... [--efforts 1,5] [--runs 3] [--pnm] [--dict FILE] [--no-speed]

For every folder of PNG files the table that `benches/RESULTS.md` has: bytes of whole files, how far Tessera is from each of the
others, and megapixels per second of one core, both ways; below it, which of the project's goals are met. Times are of the processor, the least of
several runs, those of whole processes less the time a picture of one pixel takes, and pictures are decoded to PPM or PGM, so that packing PNG counts
nowhere; with --pnm they are also read from there, so that unpacking it counts nowhere either. Decoded pictures are compared with the originals.
Needs cjxl and djxl (Debian: libjxl-tools), cwebp and dwebp (webp), numpy and Pillow.
"""

import argparse
import pathlib
import resource
import subprocess
import tempfile

import numpy
from PIL import Image


# What an effort is to reach: change of bytes against the peers, in percent, and MP/s of encoding and decoding.
GOALS = {5: ({"cjxl -e 7": -3, "cjxl -e 9": -2, "cwebp -m 6": -11}, (1, 1.5)), 1: ({"cwebp -m 6": 0}, (8, 8))}

# Where pictures of a mode are decoded to without packing.
DECODED = {"L": "decoded.pgm", "RGB": "decoded.ppm"}


def codecs(tessera, efforts, dictionary):
    """Name, ending, encoder and decoder; `{i}` and `{o}` stand for the files."""
    named = ["--dict", dictionary] if dictionary else []
    for effort in efforts:
        encode = [tessera, "--quiet", "encode", "{i}", "-o", "{o}", "--lossless", "-e", str(effort), "--threads", "1", "--force", *named]
        decode = [tessera, "--quiet", "decode", "{i}", "-o", "{o}", "--threads", "1", "--force", *named]
        yield f"tessera -e {effort}", "tsr", encode, decode
    for effort in (7, 9):
        encode = f"cjxl -d 0 -e {effort} --num_threads=0 {{i}} {{o}}".split()
        yield f"cjxl -e {effort}", "jxl", encode, "djxl --num_threads=0 {i} {o}".split()
    yield "cwebp -m 6", "webp", "cwebp -quiet -lossless -m 6 {i} -o {o}".split(), "dwebp -quiet {i} -ppm -o {o}".split()


def cpu_time(command, source, target):
    """CPU seconds of a command."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    line = [str(word).format(i=source, o=target) for word in command]
    done = subprocess.run(line, capture_output=True, text=True, errors="replace")
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(line)} failed: {done.stderr.strip() or 'it says nothing'}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def is_same(original, decoded):
    """Whether the decoded picture has the samples of the original; webp knows no gray."""
    mode = "RGBA" if original.mode in ("RGBA", "LA", "P") else "RGB"
    return numpy.array_equal(numpy.asarray(original.convert(mode)), numpy.asarray(Image.open(decoded).convert(mode)))


def as_pnm(picture, folder):
    """A copy that needs no unpacking, if there can be one."""
    original = Image.open(picture)
    if original.mode not in ("L", "RGB"):
        return picture
    copy = folder / DECODED[original.mode].replace("decoded", "original")
    original.save(copy)
    return copy


def least_time(command, source, target, runs):
    return min(cpu_time(command, source, target) for _ in range(runs))


def measured(codec, pictures, folder, options):
    """Bytes of all pictures, and CPU seconds of encoding and decoding them beyond starting the process."""
    _, ending, encode, _ = codec
    coded = folder / f"coded.{ending}"
    size, times = 0, [0.0, 0.0]
    for picture in pictures:
        original = Image.open(picture)
        plain = original.mode in ("L", "RGB")
        # What has alpha goes to PNG, packing included.
        decoded = folder / ("decoded.ppm" if plain and ending == "webp" else DECODED.get(original.mode, "decoded.png"))
        decode = [word for word in codec[3] if plain or word != "-ppm"]
        source = as_pnm(picture, folder) if options.pnm else picture
        runs = options.runs if options.speed else 1
        times[0] += least_time(encode, source, coded, runs)
        size += coded.stat().st_size
        if options.speed:
            times[1] += least_time(decode, coded, decoded, runs)
            if original.mode in ("L", "RGB", "RGBA") and not is_same(original, decoded):
                raise SystemExit(f"{picture}: {codec[0]} did not give back the picture")
    return size, times


def start_up(codec, folder, pnm):
    """CPU seconds of both commands for a picture of one pixel."""
    _, ending, encode, decode = codec
    picture, coded = folder / ("pixel.ppm" if pnm else "pixel.png"), folder / f"pixel.{ending}"
    Image.new("RGB", (1, 1), (9, 8, 7)).save(picture)
    decoded = folder / "pixel.decoded.ppm"
    runs = [(cpu_time(encode, picture, coded), cpu_time(decode, coded, decoded)) for _ in range(5)]
    return [min(run[way] for run in runs) for way in (0, 1)]


def goals(effort, ours, peers, speed):
    """Whether an effort reaches what it is to reach, in words."""
    _, size, speeds = ours
    bytes_wanted, speeds_wanted = GOALS[effort]
    told = []
    for name, other, _ in peers:
        if name in bytes_wanted:
            change, wanted = 100 * (size / other - 1), bytes_wanted[name]
            told.append(f"{name} {change:+.2f} % (goal {wanted:+d} %: {'met' if change <= wanted else 'missed'})")
    for way, found, wanted in zip(("encoding", "decoding"), speeds, speeds_wanted):
        if speed:
            told.append(f"{way} {found:.2f} MP/s (goal {wanted}: {'met' if found >= wanted else 'missed'})")
    return f"Effort {effort}: {'; '.join(told)}"


def table(source, options, folder):
    pictures = sorted(source.glob("*.png"))
    if not pictures:
        raise SystemExit(f"{source}: no PNG files; the peers' tools agree on no other format")
    megapixels = sum(numpy.prod(Image.open(picture).size) for picture in pictures) / 1e6
    rows = []
    for codec in codecs(options.tessera, options.efforts, options.dict):
        size, times = measured(codec, pictures, folder, options)
        starts = start_up(codec, folder, options.pnm) if options.speed else [0, 0]
        speeds = [megapixels / max(time - len(pictures) * start, 1e-6) for time, start in zip(times, starts)]
        rows.append((codec[0], size, speeds))
    ours, peers = rows[: len(options.efforts)], rows[len(options.efforts) :]
    print(f"{source}: {len(pictures)} pictures, {megapixels:.2f} MP\n")
    print("| codec | bytes | " + " | ".join(f"vs {name}" for name, *_ in peers) + " | encode MP/s | decode MP/s |")
    print("|---|--:|" + "--:|" * len(peers) + "--:|--:|")
    for name, size, speeds in rows:
        changes = [f"{100 * (size / other - 1):+.1f} %" if name in [own[0] for own in ours] else "" for _, other, _ in peers]
        told = [f"{speed:.2f}" if options.speed else "" for speed in speeds]
        print(f"| {name} | {size} | " + " | ".join(changes) + f" | {told[0]} | {told[1]} |", flush=True)
    print()
    for effort, row in zip(options.efforts, ours):
        if effort in GOALS:
            print(goals(effort, row, peers, options.speed) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tessera")
    parser.add_argument("folders", nargs="+", type=pathlib.Path)
    parser.add_argument("--efforts", type=lambda text: [int(effort) for effort in text.split(",")], default=[1, 5])
    parser.add_argument("--runs", type=int, default=3, help="of every command; the least time counts")
    parser.add_argument("--pnm", action="store_true", help="encode from PPM and PGM")
    parser.add_argument("--dict", help="a learned dictionary for Tessera")
    parser.add_argument("--no-speed", dest="speed", action="store_false", help="bytes only; nothing is decoded")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for source in options.folders:
            table(source, options, pathlib.Path(folder))


if __name__ == "__main__":
    main()
