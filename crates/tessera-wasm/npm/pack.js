import { TesseraError } from './errors.js';
import { bytesOf } from './loading.js';

/** Bytes of the magic, and of the trailer that says where the index is. */
const MAGIC = 3;
const TRAILER = 20;
const TRAILER_MAGIC = 0x49505354;
/** A module of 32 bits cannot count further. */
const LARGEST = 0xffffffff;

let packs = 0;

/** Something that is read in parts: of a `Blob` only these are, everything else is here already. */
async function partsOf(source) {
  if (typeof Blob !== 'undefined' && source instanceof Blob) {
    const read = async (start, end) => new Uint8Array(await source.slice(start, end).arrayBuffer());
    return { size: source.size, read };
  }
  const bytes = await bytesOf(source);
  return { size: bytes.byteLength, read: async (start, end) => new Uint8Array(bytes.subarray(start, end)) };
}

/** Where the index begins; where adding pictures was interrupted, the last that is whole may be anywhere. */
async function indexPlace({ size, read }) {
  if (size < TRAILER) return 0;
  const { buffer } = await read(size - TRAILER, size);
  const trailer = new DataView(buffer);
  const place = Number(trailer.getBigUint64(0, true));
  const ends = place + trailer.getUint32(8, true) + TRAILER === size;
  return ends && trailer.getUint32(16, true) === TRAILER_MAGIC ? place : 0;
}

/** The pictures of a pack, each read when it is asked for. */
export class Pack {
  #parts;
  #need;
  #host;
  #numbers;
  #places;
  #keys;
  #predicting = new Map();

  constructor(parts, need, host, info) {
    this.#parts = parts;
    this.#need = need;
    this.#host = host;
    this.#numbers = new Map(info.names.map((name, number) => [name, number]));
    this.names = info.names;
    this.#places = info.places;
    this.#keys = info.keys;
    this.dictionary = need.dictionary;
  }

  /** Bytes that a picture takes in the pack. */
  bytes(name) {
    const [start, end] = this.#places[this.#number(name)];
    return end - start;
  }

  /** A picture as a file of its own. */
  async file(name, { signal } = {}) {
    const index = this.#number(name);
    const bytes = await this.#parts.read(...this.#places[index]);
    const key = await this.#keyOf(index);
    const job = { call: 'packFile', args: { pack: this.#need.key, index, bytes, key }, needs: [this.#need] };
    const transfer = key ? [bytes.buffer, key.buffer] : [bytes.buffer];
    return new Uint8Array(await (await this.#host.pool()).run(job, { signal, transfer }));
  }

  /** Decodes a picture; options as for `decode`. */
  async decode(name, options = {}) {
    return this.#host.decode(await this.file(name, options), await this.#with(name, options));
  }

  /** Decodes a picture to its samples as they are stored. */
  async decodeSamples(name, options = {}) {
    return this.#host.decodeSamples(await this.file(name, options), await this.#with(name, options));
  }

  /** Forgets the pack. */
  async close() {
    (await this.#host.pool()).close(this.#need.key);
  }

  /** The bytes of the picture that another one is predicted from, if it is. */
  async #keyOf(index) {
    const key = this.#keys[index];
    return key === null ? undefined : this.#parts.read(...this.#places[key]);
  }

  /** What decoding a picture needs: the dictionary of the pack, or one with the picture that it is predicted from. */
  async #with(name, options) {
    const index = this.#number(name);
    const number = this.#keys[index];
    const { key: pack } = this.#need;
    if (number === null) return { ...options, needs: await this.#host.needs(this.dictionary ? [this.dictionary] : []) };
    if (!this.#predicting.has(number)) this.#predicting.set(number, await this.#keyOf(index));
    const bytes = this.#predicting.get(number);
    return { ...options, needs: [this.#need, { kind: 'predicting', key: `${pack}-${number}`, pack, index, bytes }] };
  }

  #number(name) {
    const number = this.#numbers.get(name);
    if (number === undefined) throw new TesseraError('parameter', `the pack has no picture ${name}`);
    return number;
  }
}

/** Reads the index of a pack; `host` has the pool of workers and decodes files. */
export async function readPack(source, host) {
  const parts = await partsOf(source);
  const { size } = parts;
  if (size > LARGEST) throw new TesseraError('limits', 'packs of more than 4 GB cannot be read here');
  const key = `pack-${(packs += 1)}`;
  const [bytes, end] = [await parts.read(0, Math.min(MAGIC, size)), await parts.read(await indexPlace(parts), size)];
  const need = { kind: 'pack', key, bytes, end, length: size };
  const pool = await host.pool();
  const info = await pool.run({ call: 'packIndex', args: { pack: key }, needs: [need] });
  if (info.dictionary === null && info.shared.length === 0) return new Pack(parts, need, host, info);
  const dictionary = info.dictionary === null ? undefined : await parts.read(...info.dictionary);
  const shared = await Promise.all(info.shared.map(async ([place, end]) => ({ place, bytes: await parts.read(place, end) })));
  const ready = { ...need, key: `${key}-ready`, dictionary, shared };
  await pool.run({ call: 'packIndex', args: { pack: ready.key }, needs: [ready] });
  pool.close(key);
  return new Pack(parts, ready, host, info);
}
