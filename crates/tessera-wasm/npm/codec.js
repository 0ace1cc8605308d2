import { TesseraError } from './errors.js';

/** Bytes in front of decoded pixels: width, height, channels and bits. */
const HEAD = 16;

/** One instance of a module. It knows nothing of workers, and decodes on the thread it is called on. */
export class Codec {
  constructor(instance) {
    this.exports = instance.exports;
  }

  /** Makes an instance of a compiled module; `builtin` are the bytes of the built-in dictionary. */
  static async create(module, builtin, onProgress = () => {}) {
    const imports = { tessera: { progress: (pixels) => onProgress(pixels) } };
    const codec = new Codec(await WebAssembly.instantiate(module, imports));
    codec.withInput([builtin], (at) => codec.exports.tessera_load_builtin(at, builtin.byteLength));
    return codec;
  }

  /** Memory the instance holds; it never shrinks. */
  get memory() {
    return this.exports.memory.buffer.byteLength;
  }

  /** Copies inputs into the module, calls, and throws if the status says so. */
  withInput(inputs, call) {
    const { tessera_alloc, tessera_free } = this.exports;
    const places = [];
    try {
      for (const input of inputs) {
        const place = tessera_alloc(input.byteLength);
        if (place === 0) throw new TesseraError('memory', `no memory for ${input.byteLength} bytes`);
        places.push([place, input.byteLength]);
        new Uint8Array(this.exports.memory.buffer, place, input.byteLength).set(input);
      }
      const status = call(...places.map(([place]) => place));
      if (status < 0) throw TesseraError.ofStatus(status, this.text());
      return status;
    } catch (error) {
      // After a trap the instance is in an unknown state, so nothing is given back to it.
      if (error instanceof WebAssembly.RuntimeError) places.length = 0;
      throw error;
    } finally {
      for (const [place, length] of places) tessera_free(place, length);
    }
  }

  /** A copy of what the last call has made. */
  output(from = 0) {
    const { memory, tessera_output, tessera_output_len, tessera_drop_output } = this.exports;
    const place = tessera_output();
    const bytes = memory.buffer.slice(place + from, place + tessera_output_len());
    tessera_drop_output();
    return bytes;
  }

  text() {
    return new TextDecoder().decode(this.output());
  }

  /** Takes a learned dictionary: its identity, and a number to encode with it. */
  addDictionary(bytes) {
    const number = this.withInput([bytes], (at) => this.exports.tessera_add_dictionary(at, bytes.byteLength));
    return { number, id: this.text() };
  }

  /** Opens a picture of `length` bytes by its start: what it is, where its tiles are, and a number to ask for them. */
  open(start, length) {
    const number = this.withInput([start], (at) => this.exports.tessera_open(at, start.byteLength, length));
    const info = JSON.parse(this.text());
    this.withInput([], () => this.exports.tessera_tiles(number));
    return { number, info, tiles: new Uint32Array(this.output()) };
  }

  /** The colour profile of an open picture. */
  profile(number) {
    this.withInput([], () => this.exports.tessera_profile(number));
    return new Uint8Array(this.output());
  }

  /** The small picture in front of an open one, if there is one. */
  preview(number) {
    this.withInput([], () => this.exports.tessera_preview(number));
    return this.optionalImage();
  }

  /** The rows of a tile that its first bytes hold, if they are enough for any. */
  tileStart(number, index, bytes) {
    const length = bytes.byteLength;
    this.withInput([bytes], (at) => this.exports.tessera_tile_start(number, index, at, length));
    return this.optionalImage();
  }

  optionalImage() {
    return this.exports.tessera_output_len() === 0 ? undefined : this.image();
  }

  /** Decodes one tile of an open picture to RGBA in the colours of its profile. */
  decodeTile(number, index, bytes) {
    const length = bytes.byteLength;
    this.withInput([bytes], (at) => this.exports.tessera_decode_tile(number, index, at, length));
    return this.output();
  }

  close(number) {
    this.exports.tessera_close(number);
  }

  /** Opens a pack of `length` bytes by its start and its end: what it holds, and a number to ask for it. */
  openPack(start, end, length, dictionary, shared = []) {
    const { tessera_open_pack, tessera_pack_dictionary, tessera_pack_shared } = this.exports;
    const call = (first, last) => tessera_open_pack(first, start.byteLength, last, end.byteLength, length);
    const pack = this.withInput([start, end], call);
    const info = JSON.parse(this.text());
    try {
      for (const { place, bytes } of shared) {
        this.withInput([bytes], (at) => tessera_pack_shared(pack, place, at, bytes.byteLength));
      }
      if (dictionary) this.withInput([dictionary], (at) => tessera_pack_dictionary(pack, at, dictionary.byteLength));
    } catch (error) {
      this.closePack(pack);
      throw error;
    }
    return { pack, info };
  }

  /** The file of a picture in an open pack; `key` are the bytes of the one it is predicted from, if it is. */
  packFile(pack, index, bytes, key) {
    const { tessera_pack_file } = this.exports;
    const call = (at, keyAt) => tessera_pack_file(pack, index, at, bytes.byteLength, keyAt, key?.byteLength ?? 0);
    // There is no place of no bytes, and without a key nothing is read there.
    this.withInput([bytes, key ?? bytes], call);
    return this.output();
  }

  /** Adds the dictionary of a picture that is predicted from the one with these bytes. */
  addPredicting(pack, index, key) {
    const call = (at) => this.exports.tessera_pack_predicting(pack, index, at, key.byteLength);
    const number = this.withInput([key], call);
    return { number, id: this.text() };
  }

  closePack(pack) {
    this.exports.tessera_close_pack(pack);
  }

  /** What a whole file holds. */
  describe(bytes) {
    this.withInput([bytes], (at) => this.exports.tessera_describe(at, bytes.byteLength));
    return JSON.parse(this.text());
  }

  /** Decodes a whole file, or a region, or smaller, to RGBA in the colours of its profile or to the samples as they are stored. */
  decode(bytes, { region, maxSide = 0, raw = false } = {}) {
    const { x, y, width, height } = region ?? { x: 0, y: 0, width: 0, height: 0 };
    const { tessera_decode } = this.exports;
    const length = bytes.byteLength;
    this.withInput([bytes], (at) => tessera_decode(at, length, x, y, width, height, maxSide, Number(raw)));
    return this.image();
  }

  /** The picture that is the output. */
  image() {
    const output = this.exports.tessera_output();
    const head = new Uint32Array(this.exports.memory.buffer.slice(output, output + HEAD));
    return { width: head[0], height: head[1], channels: head[2], depth: head[3], data: this.output(HEAD) };
  }

  /** Encodes RGBA. */
  encode(pixels, { width, height, quality = 75, size = 0, effort = 5, preview = false, dictionary = -1 }) {
    const { tessera_encode } = this.exports;
    this.withInput([pixels], (at) => tessera_encode(at, width, height, quality, size, effort, Number(preview), dictionary));
    return this.output();
  }

  /** SSIMULACRA2 between two pictures in RGBA. */
  ssimulacra2(a, b, width, height) {
    this.withInput([a, b], (first, second) => this.exports.tessera_ssimulacra2(first, second, width, height));
    return new Float64Array(this.output())[0];
  }
}
