import { ASSETS } from '../npm/assets.js';
import { TesseraError, decode, describe, dictionaryId, encode, init, openPack, ssimulacra2 } from '../npm/index.js';
import { Comparison } from './compare.js';
import { Gallery } from './gallery.js';
import { drawPreview } from '../npm/paint.js';
import { PEERS, atSize, canvasOf, pixelsOf } from './peers.js';

/** Larger photos are scaled down unless the reader asks for all of them: an encoder takes seconds per megapixel. */
const QUICK_PIXELS = 2_000_000;
/** Below this side SSIMULACRA2 is not defined. */
const LEAST_SIDE = 8;
const PATIENCE = 250;

const element = (id) => document.getElementById(id);
const comparison = new Comparison(element('viewer'));
const gallery = new Gallery(element('thumbnails'), choose);
const dictionaries = [];
/** What the reader wants to see on either side, whether or not it is there yet. */
const wanted = { left: 'original', right: 'tessera' };
let subject;
let run = new AbortController();
let pause;

function say(message) {
  element('message').textContent = message;
  element('message').hidden = !message;
}

function busy(text, share) {
  element('status').textContent = text;
  const progress = element('progress');
  progress.hidden = share === undefined;
  if (share === null) progress.removeAttribute('value');
  else if (share !== undefined) progress.value = share;
}

function size(bytes) {
  if (bytes < 1000) return `${bytes} B`;
  const [unit, divisor] = bytes < 1e6 ? ['kB', 1e3] : ['MB', 1e6];
  return `${(bytes / divisor).toFixed(bytes / divisor < 100 ? 1 : 0)} ${unit}`;
}

/** Starts over with a new task; what was under way is stopped. */
function restart() {
  run.abort();
  run = new AbortController();
  return run.signal;
}

/** Tells what went wrong, unless it was stopped on purpose. */
async function attempt(name, work) {
  const signal = restart();
  try {
    await work(signal);
  } catch (error) {
    if (signal.aborted) return;
    busy('');
    say(`${name}: ${error.message}`);
  }
}

async function startsWith(file, ...bytes) {
  const start = new Uint8Array(await file.slice(0, bytes.length).arrayBuffer());
  return bytes.every((byte, at) => start[at] === byte);
}

function open(file) {
  say('');
  return attempt(file.name, async (signal) => {
    if (await startsWith(file, 0x54, 0x53, 0x44)) await openDictionary(file);
    else if (await startsWith(file, 0xd4, 0x50)) await showPack(file);
    else if (await startsWith(file, 0xd4, 0x53)) await openTessera(file, signal);
    else await openPhoto(file, signal);
  });
}

async function openDictionary(file) {
  const bytes = await file.arrayBuffer();
  const id = await dictionaryId(bytes);
  dictionaries.push(bytes);
  say(`${file.name}: the dictionary ${id} is known here now. Drop a .tsr file that was made with it.`);
}

/** Shows one of the parts of the page. */
function display(part) {
  for (const id of ['welcome', 'gallery', 'stage']) element(id).hidden = id !== part;
  element('back').hidden = part !== 'stage' || subject?.from !== 'pack';
}

async function showPack(file) {
  const pack = await openPack(file);
  if (pack.dictionary) dictionaries.push(pack.dictionary);
  const count = pack.names.length;
  element('pack').textContent = `${file.name}: ${count} ${count === 1 ? 'picture' : 'pictures'}, ${size(file.size)}`;
  gallery.show(pack);
  display('gallery');
}

/** Opens a picture of the pack that is shown. */
function choose(pack, name) {
  say('');
  return attempt(name, async (signal) => {
    const bytes = await pack.file(name, { signal });
    await openTessera(new File([bytes], `${name.replaceAll('/', '-')}.tsr`), signal, 'pack');
  });
}

/** Shows the stage for a picture; several versions of it can be laid beside each other. */
function enter(next, width, height) {
  subject = next;
  const single = next.kind === 'tessera';
  display('stage');
  element('controls').hidden = single;
  element('download').hidden = true;
  comparison.prepare(width, height, single);
  note('');
  busy('');
  drawCards();
}

async function openTessera(file, signal, from) {
  const bytes = await file.arrayBuffer();
  const info = await describe(bytes);
  enter({ kind: 'tessera', from, file, name: file.name.replace(/\.tsr$/i, ''), versions: new Map() }, info.width, info.height);
  const context = comparison.canvas('right').getContext('2d');
  const started = performance.now();
  const onTile = ({ x, y, image }) => context.putImageData(image, x, y);
  const onPreview = (small) => drawPreview(context, small);
  const image = await decode(bytes, { dictionaries, signal, onPreview, onTile });
  const seconds = (performance.now() - started) / 1000;
  addVersion('tessera', 'Tessera', image, file.size);
  const depth = info.depth > 8 ? `, ${info.depth} bits` : '';
  note(`${info.width} × ${info.height}${depth}, ${info.tiles} ${info.tiles === 1 ? 'tile' : 'tiles'}, dictionary ${info.dictionary}, decoded in ${seconds.toFixed(2)} s`);
  const png = await new Promise((resolve) => canvasOf(image).toBlob(resolve, 'image/png'));
  signal.throwIfAborted();
  if (png) offer(png, `${subject.name}.png`, 'Save as PNG');
}

async function openPhoto(file, signal) {
  const most = element('full').checked ? Infinity : QUICK_PIXELS;
  const { image, scaled } = await pixelsOf(file, most).catch(() => {
    throw new TesseraError('format', 'this browser cannot read it as a picture; drop a photo (JPEG, PNG, WebP, AVIF), a .tsr file or a pack');
  });
  signal.throwIfAborted();
  enter({ kind: 'photo', file, name: file.name.replace(/\.[^.]*$/, ''), image, versions: new Map() }, image.width, image.height);
  element('full-label').hidden = !scaled && !element('full').checked;
  addVersion('original', 'Original', image, scaled ? undefined : file.size);
  const shown = `${image.width} × ${image.height}`;
  note(scaled ? `Scaled down to ${shown} so that it takes seconds; tick “Full size” for all of it.` : shown);
  await code(signal);
}

/** Codes the photo anew with what the controls say, and the peers to the same size. */
async function code(signal) {
  const { image } = subject;
  const quality = Number(element('quality').value);
  const effort = Number(element('effort').value);
  element('cards').classList.add('waiting');
  busy('encoding', 0);
  const started = performance.now();
  const file = await encode(image, { quality, effort, signal, onProgress: (share) => busy('encoding', share) });
  const seconds = (performance.now() - started) / 1000;
  busy('decoding', null);
  const decoded = await decode(file, { signal });
  element('cards').classList.remove('waiting');
  addVersion('tessera', 'Tessera', decoded, file.length);
  offer(new Blob([file], { type: 'image/x-tessera' }), `${subject.name}.tsr`, 'Download .tsr');
  await codePeers(file.length, signal);
  busy(`encoded in ${seconds.toFixed(1)} s`);
}

async function codePeers(bytes, signal) {
  busy('WebP, JPEG, SSIMULACRA2', null);
  const canvas = canvasOf(subject.image);
  const scores = [score('tessera', signal)];
  for (const { id, label, type } of PEERS) {
    const blob = await atSize(canvas, type, bytes, signal);
    signal.throwIfAborted();
    if (blob === undefined) continue;
    const { image } = await pixelsOf(blob);
    signal.throwIfAborted();
    addVersion(id, blob.size > bytes * 1.05 ? `${label}, smallest` : label, image, blob.size);
    scores.push(score(id, signal));
  }
  await Promise.all(scores);
}

async function score(id, signal) {
  const version = subject.versions.get(id);
  const { width, height } = subject.image;
  if (Math.min(width, height) < LEAST_SIDE) return;
  version.score = await ssimulacra2(subject.image, version.image, { signal });
  drawCards();
}

function addVersion(id, label, image, bytes) {
  subject.versions.set(id, { id, label, image, bytes });
  for (const side of ['left', 'right']) {
    const options = [...subject.versions.values()].map((version) => new Option(version.label, version.id));
    element(`choose-${side}`).replaceChildren(...options);
    show(side);
  }
  drawCards();
}

/** Shows what is wanted on a side, or until that is there the first version. */
function show(side) {
  const version = subject.versions.get(wanted[side]) ?? subject.versions.values().next().value;
  element(`choose-${side}`).value = version.id;
  comparison.show(side, version.image);
}

function cell(tag, className, text) {
  const made = document.createElement(tag);
  made.className = className;
  made.textContent = text;
  return made;
}

function drawCards() {
  const versions = [...subject.versions.values()];
  const best = Math.max(...versions.map(({ score: points }) => points ?? -Infinity));
  element('cards').replaceChildren(...versions.map((version) => card(version, version.score === best)));
}

function card({ id, label, image, bytes, score: points }, isBest) {
  const made = cell('article', isBest ? 'card best' : 'card', '');
  made.dataset.version = id;
  made.append(cell('h2', '', label), cell('p', 'size', bytes === undefined ? '–' : size(bytes)));
  const bpp = bytes === undefined ? 'scaled down for this trial' : `${((8 * bytes) / (image.width * image.height)).toFixed(2)} bits per pixel`;
  made.append(cell('p', 'bpp', bpp));
  if (bytes !== undefined) made.dataset.bytes = bytes;
  if (points === undefined) return made;
  made.dataset.score = points;
  const line = cell('p', 'score', 'SSIMULACRA2');
  line.append(cell('b', '', points.toFixed(1)));
  const meter = cell('div', 'meter', '');
  const filled = cell('span', '', '');
  filled.style.width = `${Math.max(0, Math.min(100, points))}%`;
  meter.append(filled);
  made.append(line, meter);
  return made;
}

function note(text) {
  element('note').textContent = text;
}

function offer(blob, name, label) {
  const link = element('download');
  if (link.href) URL.revokeObjectURL(link.href);
  Object.assign(link, { href: URL.createObjectURL(blob), download: name, textContent: label, hidden: false });
}

/** Codes again when a control rests. */
function recode() {
  if (subject?.kind !== 'photo') return;
  clearTimeout(pause);
  pause = setTimeout(() => attempt(subject.file.name, code), PATIENCE);
}

function listen() {
  element('file').addEventListener('change', ({ target }) => {
    if (target.files[0]) open(target.files[0]);
    target.value = '';
  });
  element('sample').addEventListener('click', async (event) => {
    event.preventDefault();
    const bytes = await (ASSETS.sample ? ASSETS.sample() : fetch('sample.png').then((response) => response.arrayBuffer()));
    open(new File([bytes], 'sample.png', { type: 'image/png' }));
  });
  element('quality').addEventListener('input', ({ target }) => {
    element('quality-value').textContent = target.value;
    recode();
  });
  element('back').addEventListener('click', () => {
    restart();
    say('');
    display('gallery');
  });
  element('effort').addEventListener('change', recode);
  element('full').addEventListener('change', () => open(subject.file));
  for (const side of ['left', 'right']) {
    element(`choose-${side}`).addEventListener('change', ({ target }) => {
      wanted[side] = target.value;
      show(side);
    });
  }
  addEventListener('dragover', (event) => {
    event.preventDefault();
    document.body.classList.add('over');
  });
  addEventListener('dragleave', () => document.body.classList.remove('over'));
  addEventListener('drop', (event) => {
    event.preventDefault();
    document.body.classList.remove('over');
    const file = event.dataTransfer.files[0];
    if (file) open(file);
  });
  addEventListener('paste', (event) => {
    const file = event.clipboardData?.files[0];
    if (file) open(file);
  });
}

listen();
init().catch((error) => say(`Tessera cannot be started: ${error.message}`));
