// Decoding in WebAssembly beside native decoding, one thread each, in turn in one run:
//
//     cargo xtask wasm && cargo build --release -p tessera-wasm --example native_decode
//     node benches/wasm.mjs FILE.tsr...
//
// Times are those of the processor, the least of many, so that other work on the machine hardly matters. The first ones of
// both are left out, as programs stay warm; start-up is told apart, by the clock.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { init, decode, end } from '../target/wasm/tessera-codec/index.js';

const NATIVE = new URL('../target/release/examples/native_decode', import.meta.url).pathname;
const ROUNDS = 15;
const TIMES = 3;
const WARM = 2;

function native(file) {
  const lines = execFileSync(NATIVE, [file, String(TIMES + WARM)], { encoding: 'utf8' }).trim().split('\n');
  const [times, pixels] = [0, 1].map((column) => lines.map((line) => Number(line.split(' ')[column])));
  return { times: times.slice(WARM), pixels: pixels[0] };
}

async function wasm(bytes) {
  const times = [];
  for (let time = 0; time < TIMES; time += 1) {
    const start = process.cpuUsage();
    await decode(bytes);
    const { user, system } = process.cpuUsage(start);
    times.push((user + system) / 1000);
  }
  return times;
}

async function startUp(bytes) {
  end();
  const start = performance.now();
  await init({ workers: 0 });
  const loaded = performance.now();
  await decode(bytes);
  return { load: loaded - start, first: performance.now() - loaded };
}

console.log('file\tnative MP/s\twasm MP/s\twasm / native\tload ms\tfirst picture ms');
for (const file of process.argv.slice(2)) {
  const bytes = readFileSync(file);
  const { load, first } = await startUp(bytes);
  for (let time = 0; time < 2 * WARM; time += 1) await wasm(bytes);
  const best = { native: Infinity, wasm: Infinity };
  let pixels;
  for (let round = 0; round < ROUNDS; round += 1) {
    const ours = native(file);
    pixels = ours.pixels;
    best.native = Math.min(best.native, ...ours.times);
    best.wasm = Math.min(best.wasm, ...(await wasm(bytes)));
  }
  const speed = (milliseconds) => (pixels / 1000 / milliseconds).toFixed(2);
  const ratio = (best.native / best.wasm).toFixed(2);
  console.log([file, speed(best.native), speed(best.wasm), ratio, load.toFixed(0), first.toFixed(0)].join('\t'));
}
