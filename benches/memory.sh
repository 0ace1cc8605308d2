#!/usr/bin/env bash
# Peak memory and CPU time of encoding (effort 1) and decoding pictures of 1, 10, 100 and 400 megapixels.
#   benches/memory.sh [TESSERA] [SIDE...]
# The pictures are the pixels of a photo repeated without regard to rows, so that they have its texture at any size.
set -euo pipefail
cd "$(dirname "$0")/.."
tessera=$(realpath "${1:-target/release/tessera}")
sides=("${@:2}")
[ ${#sides[@]} -gt 0 ] || sides=(1000 3162 10000 20000)
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT

"$tessera" --quiet encode -q 100 fixtures/photos/coffee.png -o "$folder/photo.tsr"
"$tessera" --quiet decode "$folder/photo.tsr" -o "$folder/photo.ppm"
tail -c +16 "$folder/photo.ppm" >"$folder/pixels"

measure() {
    local what=$1
    shift
    /usr/bin/time -f "$side x $side $what: %M kB, %U s" "$@"
}

for side in "${sides[@]}"; do
    picture=$folder/$side.ppm
    {
        printf 'P6\n%d %d\n255\n' "$side" "$side"
        while cat "$folder/pixels" 2>/dev/null; do :; done | head -c $((3 * side * side))
    } >"$picture" || true
    measure encode "$tessera" --quiet encode -e 1 "$picture" -o "$folder/$side.tsr"
    rm "$picture"
    measure "decode to PNM" "$tessera" --quiet decode "$folder/$side.tsr" -o "$folder/out.ppm"
    measure "decode to PNG" "$tessera" --quiet decode "$folder/$side.tsr" -o "$folder/out.png"
    measure "encode from PNG" "$tessera" --quiet encode -e 1 "$folder/out.png" -o "$folder/again.tsr"
    measure "region" "$tessera" --quiet decode --region 10,10,500,500 "$folder/$side.tsr" -o "$folder/region.png"
    rm "$folder"/out.* "$folder"/again.tsr "$folder"/region.png
done
