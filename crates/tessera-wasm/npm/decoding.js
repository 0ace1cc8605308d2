import { Arrival } from './arrival.js';
import { TesseraError, abortError } from './errors.js';

/** Stands for the length of a file that has not ended yet. */
const UNKNOWN_LENGTH = 0x7fffffff;
/** Bytes of a file with which it is worth looking for header and tile table. Whoever opens it asks for so many, if it has them. */
const FIRST_LOOK = 64;
/** Numbers that describe a tile. */
const TILE_FIELDS = 6;
/** The beginning of a tile is decoded when it has so many bytes, and again when it has grown by so much. */
const FIRST_PART = 4096;
const GROWTH = 1.5;
/** Most bytes of a tile in the table. Whoever reads it asks for so many, though most are shorter. */
const TABLE_ENTRY = 10;

let pictures = 0;

/** Pixels in the form that pages know; in Node a plain object of the same shape. */
export function imageData(data, width, height) {
  const pixels = data instanceof ArrayBuffer ? new Uint8ClampedArray(data) : data;
  if (typeof ImageData === 'undefined') return { width, height, data: pixels, colorSpace: 'srgb' };
  return new ImageData(pixels, width, height);
}

function tileList(numbers) {
  const tiles = [];
  for (let at = 0; at < numbers.length; at += TILE_FIELDS) {
    const [x, y, width, height, start, end] = numbers.subarray(at, at + TILE_FIELDS);
    tiles.push({ index: tiles.length, x, y, width, height, start, end });
  }
  return tiles;
}

/** Header and tiles of a file, as soon as enough of it is here. */
async function openHead(pool, arrival, needs, signal) {
  const key = `picture-${(pictures += 1)}`;
  for (let look = FIRST_LOOK; ; look = Math.max(2 * look, arrival.length)) {
    await arrival.until(look);
    const length = arrival.done ? arrival.length : UNKNOWN_LENGTH;
    const picture = { kind: 'picture', key, bytes: arrival.slice(0, arrival.length), length };
    try {
      const job = { call: 'head', args: { picture: key }, needs: [...needs, picture] };
      const { info, tiles: numbers } = await pool.run(job, { signal });
      const tiles = tileList(numbers);
      picture.bytes = picture.bytes.slice(0, Math.max(FIRST_LOOK, tiles[0].start + TABLE_ENTRY * tiles.length));
      return { info, tiles, picture };
    } catch (error) {
      if (error.code !== 'incomplete' || length !== UNKNOWN_LENGTH) throw asFormat(error);
    }
  }
}

/** A file that ends too early is damaged, once no more of it will come. */
function asFormat(error) {
  return error.code === 'incomplete' ? new TesseraError('format', error.message) : error;
}

function intersection(a, b) {
  const x = Math.max(a.x, b.x);
  const y = Math.max(a.y, b.y);
  const width = Math.min(a.x + a.width, b.x + b.width) - x;
  const height = Math.min(a.y + a.height, b.y + b.height) - y;
  return width > 0 && height > 0 ? { x, y, width, height } : undefined;
}

/** Copies what a tile has of a part into the pixels of that part. */
function paste(pixels, part, tile, data) {
  const shared = intersection(part, tile);
  const from = new Uint8ClampedArray(data);
  for (let row = 0; row < shared.height; row += 1) {
    const start = ((shared.y - tile.y + row) * tile.width + shared.x - tile.x) * 4;
    const to = ((shared.y - part.y + row) * part.width + shared.x - part.x) * 4;
    pixels.set(from.subarray(start, start + shared.width * 4), to);
  }
}

function checkRegion(region, info) {
  const sides = [region.x, region.y, region.width, region.height];
  const inside = intersection(region, { x: 0, y: 0, width: info.width, height: info.height });
  if (sides.every(Number.isInteger) && inside?.width === region.width && inside.height === region.height) return region;
  const [x, y, width, height] = sides;
  throw new TesseraError('parameter', `the region ${width}x${height}+${x}+${y} is not inside the picture (${info.width}x${info.height})`);
}

/** A whole file by one worker: pictures of one tile, and those that are scaled down as they are decoded. */
async function decodeWhole(pool, arrival, { region, maxSide, raw, picture }, { needs, signal }) {
  await arrival.until(Infinity);
  const bytes = arrival.slice(0, arrival.length);
  const job = { call: 'decode', args: { bytes, region, maxSide, raw, picture }, needs };
  return pool.run(job, { signal, transfer: [bytes.buffer] }).catch((error) => {
    throw asFormat(error);
  });
}

/** Shows the beginning of a tile again and again while the rest of it arrives; resolves when it is here. */
async function showArriving(pool, arrival, tile, picture, { needs, signal, onPart }) {
  for (let length = FIRST_PART; ; length = Math.ceil(GROWTH * (arrival.length - tile.start))) {
    await arrival.until(Math.min(tile.end, tile.start + length));
    if (signal?.aborted) throw abortError(signal);
    if (arrival.done || arrival.length >= tile.end) return;
    const bytes = arrival.slice(tile.start, tile.end);
    const job = { call: 'tileStart', args: { picture: picture.key, index: tile.index, bytes }, needs };
    const part = await pool.run(job, { signal, transfer: [bytes.buffer] });
    if (part) onPart({ x: tile.x, y: tile.y, image: imageData(part.data, part.width, part.height) });
  }
}

/** Tile by tile, each as soon as it has arrived, on as many workers as there are. */
async function decodeTiles(pool, arrival, { tiles, picture }, part, { needs, signal, onTile, onPart }) {
  const pixels = new Uint8ClampedArray(part.width * part.height * 4);
  const one = async (tile) => {
    if (onPart) await showArriving(pool, arrival, tile, picture, { needs, signal, onPart });
    await arrival.until(tile.end);
    if (signal?.aborted) throw abortError(signal);
    const bytes = arrival.slice(tile.start, tile.end);
    const job = { call: 'tile', args: { picture: picture.key, index: tile.index, bytes }, needs };
    const data = await pool.run(job, { signal, transfer: [bytes.buffer] });
    paste(pixels, part, tile, data);
    onTile?.({ x: tile.x, y: tile.y, image: imageData(data, tile.width, tile.height) });
  };
  await Promise.all(tiles.filter((tile) => intersection(part, tile)).map(one));
  return imageData(pixels, part.width, part.height);
}

/** A file that ends too early or goes on behind its last tile is not what it says. */
async function checkEnd(arrival, tiles) {
  await arrival.until(Infinity);
  const { end } = tiles.at(-1);
  if (arrival.length < end) throw new TesseraError('format', 'the file ends inside the tiles; it is truncated, fetch it again');
  if (arrival.length > end) throw new TesseraError('format', 'the file: unknown data after the last tile; the file is damaged or from a newer encoder');
}

/** Decodes a file to `ImageData`; `options.colour` loads the module for colour profiles. */
export async function decodeImage(pool, source, options) {
  const { region, maxSide = 0, signal, onHeader, onPreview, onTile, onPart } = options;
  const arrival = await Arrival.of(source, signal);
  const head = await openHead(pool, arrival, options.needs, signal);
  try {
    const { info, tiles, picture } = head;
    const part = region ? checkRegion(region, info) : { x: 0, y: 0, width: info.width, height: info.height };
    onHeader?.(info);
    const needs = [...options.needs, picture];
    if (info.profile) needs.push({ kind: 'colour', key: 'colour', bytes: await options.colour() });
    if (onPreview && info.preview) {
      const { data, width, height } = await pool.run({ call: 'preview', args: { picture: picture.key }, needs }, { signal });
      onPreview(imageData(data, width, height));
    }
    if (tiles.length === 1 || maxSide > 0) {
      if (onPart && !region && !maxSide) await showArriving(pool, arrival, tiles[0], picture, { needs, signal, onPart });
      const wanted = { region, maxSide, picture: picture.key };
      const { data, width, height } = await decodeWhole(pool, arrival, wanted, { needs, signal });
      const image = imageData(data, width, height);
      onTile?.({ x: part.x, y: part.y, image });
      return image;
    }
    const image = await decodeTiles(pool, arrival, head, part, { needs, signal, onTile, onPart });
    if (!region) await checkEnd(arrival, tiles);
    return image;
  } catch (error) {
    throw asFormat(error);
  } finally {
    pool.close(head.picture.key);
  }
}

/** Decodes a file to its samples as they are stored. */
export async function decodeRaw(pool, source, options) {
  const { region, maxSide = 0, signal } = options;
  const arrival = await Arrival.of(source, signal);
  const { data, ...rest } = await decodeWhole(pool, arrival, { region, maxSide, raw: true }, options);
  return { ...rest, data: rest.depth === 8 ? new Uint8Array(data) : new Uint16Array(data) };
}
