#!/usr/bin/env bash
# Builds the fuzz targets, makes the seed corpus and runs one target after the other, for ever or ROUNDS times.
#   fuzz/run.sh [LOG]      environment: ROUNDS, MINUTES (of a short turn; tile, lossless and decode get
#                          three times as much), SKIP_BUILD (run what is built already)
# The log gets a line per turn: time, target, CPU seconds, executions, findings. A finding stays in
# fuzz/artifacts/TARGET/; move it to fixtures/fuzz/ and add its test to tests/fuzz_findings.rs.
set -euo pipefail
cd "$(dirname "$0")/.."
log=$(realpath -m "${1:-fuzz/fuzz.log}")
short=$((${MINUTES:-5} * 60))
binaries=fuzz/target/x86_64-unknown-linux-gnu/release
TIMEFORMAT='%U %S'

if [ -z "${SKIP_BUILD:-}" ]; then
    cargo xtask fuzz-seeds fuzz/corpus
    cargo +nightly fuzz build --release --debug-assertions --sanitizer none
fi

turn() {
    local target=$1 seconds=$2 output used executions findings
    mkdir -p "fuzz/artifacts/$target"
    output=$(mktemp)
    # Address space is bounded, so that an absurd allocation is a finding too.
    used=$({ ulimit -v 2000000; time "$binaries/$target" "fuzz/corpus/$target" -artifact_prefix="fuzz/artifacts/$target/" \
        -max_total_time="$seconds" -max_len=8192 -timeout=120 -report_slow_units=600 -rss_limit_mb=1024 \
        -print_final_stats=1 >"$output" 2>&1 || true; } 2>&1 | awk '{ printf "%.0f", $1 + $2 }')
    executions=$(awk '/number_of_executed_units/ { print $2 }' "$output")
    findings=$(find "fuzz/artifacts/$target" -type f | wc -l)
    echo "$(date -u +%FT%TZ) $target cpu_s=$used executions=${executions:-?} findings=$findings" >>"$log"
    rm "$output"
}

round=0
while [ "$round" -lt "${ROUNDS:-1000000}" ]; do
    for target in header range metadata container dictionary difference pack round_trip; do
        turn "$target" "$short"
    done
    turn tile $((3 * short))
    turn lossless $((3 * short))
    turn decode $((3 * short))
    round=$((round + 1))
done
