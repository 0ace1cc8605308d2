// Decoding in WebAssembly beside native decoding, one thread each, in turn in one run:
//
//     cargo xtask wasm && cargo build --release -p tessera-wasm --example native_decode
//     node benches/wasm.mjs FILE.tsr...
//
// Times are those of the processor, the least of many, so that other work on the machine hardly matters; those of Chromium
// are what Linux says of the main threads of its pages. The first times of all are left out, as programs stay warm; start-up
// is told apart, by the clock.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { decode, end, init } from '../target/wasm/tessera-codec/index.js';

const BUILT = new URL('../target/wasm/', import.meta.url);
const NATIVE = new URL('../target/release/examples/native_decode', import.meta.url).pathname;
const CHROMIUM = '/usr/bin/chromium';
const ROUNDS = 15;
const TIMES = 3;
const BROWSER_TIMES = 10;
const WARM = 2;
const TYPES = { js: 'text/javascript', wasm: 'application/wasm' };
const PAGE = `<!doctype html><link rel="icon" href="data:,"><script type="module">
  import { decode, init } from '/tessera-codec/index.js';
  await init({ workers: 0 });
  for (;;) {
    const bytes = await (await fetch('/turn')).arrayBuffer();
    await fetch('/started', { method: 'POST' });
    for (let time = 0; time < ${BROWSER_TIMES}; time += 1) await decode(bytes);
    await fetch('/done', { method: 'POST' });
  }
</script>`;

function native(file) {
  const lines = execFileSync(NATIVE, [file, String(TIMES + WARM)], { encoding: 'utf8' }).trim().split('\n');
  const [times, pixels] = [0, 1].map((column) => lines.map((line) => Number(line.split(' ')[column])));
  return { times: times.slice(WARM), pixels: pixels[0] };
}

async function node(bytes) {
  const times = [];
  for (let time = 0; time < TIMES; time += 1) {
    const start = process.cpuUsage();
    await decode(bytes);
    const { user, system } = process.cpuUsage(start);
    times.push((user + system) / 1000);
  }
  return times;
}

/** A browser that decodes when it is its turn. */
class Browser {
  static async start() {
    const browser = new Browser();
    browser.server = createServer((request, response) => browser.answer(request, response)).listen(0, '127.0.0.1');
    await once(browser.server, 'listening');
    browser.profile = mkdtempSync(join(tmpdir(), 'tessera-'));
    const { port } = browser.server.address();
    const switches = ['--headless=new', '--no-sandbox', '--disable-gpu', `--user-data-dir=${browser.profile}`];
    browser.process = spawn(CHROMIUM, [...switches, `http://127.0.0.1:${port}/`], { stdio: 'ignore' });
    return browser;
  }

  answer(request, response) {
    if (request.url === '/turn') {
      this.turn = response;
      this.give();
    } else if (request.url === '/started') {
      this.started = this.processorTime();
      response.end();
    } else if (request.url === '/done') {
      this.done([(this.processorTime() - this.started) / BROWSER_TIMES]);
      response.end();
    } else if (request.url === '/') {
      response.setHeader('content-type', 'text/html').end(PAGE);
    } else {
      response.setHeader('content-type', TYPES[request.url.split('.').at(-1)] ?? 'application/octet-stream');
      response.end(readFileSync(new URL(`.${request.url}`, BUILT)));
    }
  }

  /** Milliseconds that the main threads of all pages have had. */
  processorTime() {
    const processes = readdirSync('/proc').filter((name) => /^\d+$/.test(name)).map((name) => {
      try {
        const [parent] = readFileSync(`/proc/${name}/stat`, 'utf8').replace(/.*\) \S /s, '').split(' ');
        const page = readFileSync(`/proc/${name}/cmdline`, 'utf8').includes('--type=renderer');
        const [time] = readFileSync(`/proc/${name}/schedstat`, 'utf8').split(' ');
        return { name, parent, page, time: Number(time) / 1e6 };
      } catch {
        return {};
      }
    });
    const family = new Set([String(this.process.pid)]);
    for (let size = 0; size < family.size;) {
      size = family.size;
      for (const { name, parent } of processes) if (family.has(parent)) family.add(name);
    }
    const pages = processes.filter(({ name, page }) => page && family.has(name));
    return pages.reduce((sum, { time }) => sum + time, 0);
  }

  give() {
    if (!this.turn || !this.bytes) return;
    this.turn.end(this.bytes);
    this.turn = this.bytes = undefined;
  }

  decode(bytes) {
    return new Promise((resolve) => {
      Object.assign(this, { bytes, done: resolve });
      this.give();
    });
  }

  async stop() {
    this.process.kill();
    await once(this.process, 'exit');
    this.server.closeAllConnections();
    this.server.close();
    rmSync(this.profile, { recursive: true, force: true });
  }
}

async function startUp(bytes) {
  end();
  const start = performance.now();
  await init({ workers: 0 });
  const loaded = performance.now();
  await decode(bytes);
  return { load: loaded - start, first: performance.now() - loaded };
}

async function compare(browser, file) {
  const bytes = readFileSync(file);
  const { load, first } = await startUp(bytes);
  const best = { native: Infinity, node: Infinity, browser: Infinity };
  let pixels;
  for (let round = -WARM; round < ROUNDS; round += 1) {
    const ours = native(file);
    const times = { native: ours.times, node: await node(bytes), browser: await browser.decode(bytes) };
    pixels = ours.pixels;
    if (round < 0) continue;
    for (const [name, found] of Object.entries(times)) best[name] = Math.min(best[name], ...found);
  }
  const speeds = Object.values(best).map((milliseconds) => (pixels / 1000 / milliseconds).toFixed(2));
  const ratios = [best.node, best.browser].map((milliseconds) => (best.native / milliseconds).toFixed(2));
  console.log([file, ...speeds, ...ratios, load.toFixed(0), first.toFixed(0)].join('\t'));
}

const browser = await Browser.start();
try {
  console.log('file\tnative MP/s\tnode MP/s\tChromium MP/s\tnode / native\tChromium / native\tload ms\tfirst picture ms');
  for (const file of process.argv.slice(2)) await compare(browser, file);
} finally {
  await browser.stop();
}
