import { ASSETS } from './assets.js';
import { Codec } from './codec.js';
import { decodeImage, decodeRaw } from './decoding.js';
import { TesseraError } from './errors.js';
import { bytesOf, cachedBytes, moduleOf } from './loading.js';
import { readPack } from './pack.js';
import { LocalPool, WorkerPool } from './pool.js';

export { TesseraError };

/** Encoders at work side by side: one picture is one job. */
const ENCODERS = 2;

let settings = { ...ASSETS };
let pools = {};
let builtin;
let colourModule;

/**
 * Says where things are, and loads what decoding needs. Without it the first call does so with the files beside this
 * one.
 */
export async function init(options = {}) {
  end();
  settings = { ...ASSETS, ...options };
  await decoderPool();
}

/** Ends all workers and forgets everything; the next call starts afresh. */
export function end() {
  for (const pool of Object.values(pools)) pool.then((pool) => pool.end()).catch(() => {});
  pools = {};
  builtin = undefined;
  colourModule = undefined;
}

/** Decodes a file (bytes, a `Blob`, a `Response`, a stream) to `ImageData` in sRGB. */
export async function decode(source, options = {}) {
  return decodeWith(source, { ...options, needs: await dictionaryNeeds(options.dictionaries) });
}

/** Decodes a file to its samples as they are stored: any depth, gray as one channel, colours as its profile has them. */
export async function decodeSamples(source, options = {}) {
  return decodeRaw(await decoderPool(), source, { ...options, needs: await dictionaryNeeds(options.dictionaries) });
}

/** Opens a pack of pictures (bytes or a `Blob`, of which only the parts that are needed are read). */
export async function openPack(source) {
  const decodeSamples = async (file, options) => decodeRaw(await decoderPool(), file, options);
  return readPack(source, { pool: decoderPool, needs: dictionaryNeeds, decode: decodeWith, decodeSamples });
}

/** What a file says of itself, without decoding it. */
export async function describe(source) {
  const bytes = await bytesOf(source);
  return (await decoderPool()).run({ call: 'describe', args: { bytes } });
}

/** The identity of a learned dictionary, as `describe` names it; throws if it is none. */
export async function dictionaryId(dictionary) {
  const needs = await dictionaryNeeds([dictionary]);
  return (await decoderPool()).run({ call: 'dictionaryId', args: { dictionary: needs[0].key }, needs });
}

/** Encodes `ImageData` to the bytes of a file. */
export async function encode(image, { quality = 75, size, effort = 5, preview = false, dictionary, signal, onProgress } = {}) {
  checkImage(image);
  checkNumber('quality', quality, 0, 100);
  checkNumber('effort', effort, 1, 9);
  if (size !== undefined) checkNumber('size', size, 1, 0x7fffffff);
  const { width, height } = image;
  const needs = await dictionaryNeeds(dictionary === undefined ? [] : [dictionary]);
  const args = { pixels: copyOf(image), width, height, quality, size, effort, preview, dictionary: needs[0]?.key };
  let done = 0;
  const hear = (pixels) => onProgress?.(Math.min(1, (done += pixels) / (width * height)));
  const job = { call: 'encode', args, needs };
  const pool = await encoderPool();
  return new Uint8Array(await pool.run(job, { signal, onProgress: hear, transfer: [args.pixels.buffer] }));
}

/** SSIMULACRA2 between two `ImageData` of the same size: 100 if they are the same, 90 if nobody sees a difference. */
export async function ssimulacra2(a, b, { signal } = {}) {
  checkImage(a);
  checkImage(b);
  const { width, height } = a;
  if (b.width !== width || b.height !== height) {
    throw new TesseraError('parameter', `pictures of ${width}x${height} and ${b.width}x${b.height} cannot be compared`);
  }
  const args = { a: copyOf(a), b: copyOf(b), width, height };
  const pool = await encoderPool();
  return pool.run({ call: 'ssimulacra2', args }, { signal, transfer: [args.a.buffer, args.b.buffer] });
}

async function decodeWith(source, options) {
  return decodeImage(await decoderPool(), source, { ...options, colour: loadColour });
}

/** The module for colour profiles, which only pictures with one need. */
async function loadColour() {
  colourModule ??= moduleOf(settings.colour);
  try {
    return await colourModule;
  } catch (error) {
    colourModule = undefined;
    throw error;
  }
}

/** A pool, made once; what could not be loaded is tried again by the next call. */
function poolOf(name, make) {
  pools[name] ??= make().catch((error) => {
    delete pools[name];
    throw error;
  });
  return pools[name];
}

function decoderPool() {
  return poolOf('decoder', async () => {
    const module = await moduleOf(settings.decoder);
    return makePool(module, await loadBuiltin(module), settings.workers ?? cores());
  });
}

function encoderPool() {
  return poolOf('encoder', async () => {
    const module = await moduleOf(settings.encoder);
    return makePool(module, await loadBuiltin(module), Math.min(ENCODERS, settings.workers ?? cores()));
  });
}

/** The built-in dictionary, which both pools share; a damaged or foreign one is noticed here. */
async function loadBuiltin(module) {
  const check = (bytes) => Codec.create(module, bytes);
  builtin ??= cachedBytes(settings.dictionary, check);
  try {
    return await builtin;
  } catch (error) {
    builtin = undefined;
    throw error;
  }
}

function makePool(module, builtin, workers) {
  const setup = { module, builtin };
  const alone = workers === 0 || typeof Worker === 'undefined';
  return alone ? new LocalPool(setup) : new WorkerPool(() => spawnWorker(settings.worker), workers, setup);
}

function spawnWorker(worker) {
  return typeof worker === 'function' ? worker() : new Worker(worker, { type: 'module' });
}

function cores() {
  return Math.max(1, Math.min(8, globalThis.navigator?.hardwareConcurrency ?? 1));
}

const dictionaryKeys = new WeakMap();
let dictionaryCount = 0;

/** Learned dictionaries as workers get them: the bytes of each only once. */
async function dictionaryNeeds(dictionaries = []) {
  return Promise.all(dictionaries.map(async (dictionary) => {
    if (!dictionaryKeys.has(dictionary)) dictionaryKeys.set(dictionary, `dictionary-${(dictionaryCount += 1)}`);
    return { kind: 'dictionary', key: dictionaryKeys.get(dictionary), bytes: await bytesOf(dictionary) };
  }));
}

function checkImage(image) {
  const { width, height, data, colorSpace = 'srgb' } = image ?? {};
  if (!(width > 0 && height > 0) || data?.length !== width * height * 4) {
    throw new TesseraError('parameter', 'a picture is an ImageData: width, height and four bytes for every pixel');
  }
  if (colorSpace !== 'srgb') throw new TesseraError('parameter', `a picture in ${colorSpace} has to be drawn in srgb first`);
}

function checkNumber(name, value, least, most) {
  if (Number.isInteger(value) && value >= least && value <= most) return;
  throw new TesseraError('parameter', `${name} is a whole number from ${least} to ${most}, not ${value}`);
}

/** Bytes of their own, to be handed over to a worker. */
function copyOf({ data }) {
  return new Uint8Array(data);
}
