import { Codec } from './codec.js';
import { Colour } from './colour.js';
import { TesseraError } from './errors.js';

/** An instance that has grown beyond this is not kept: a module cannot give memory back. */
const MEMORY_KEPT = 512 << 20;

/**
 * Does jobs one after the other with one instance, on whatever thread it is made. A job names the pictures, packs and
 * dictionaries it needs by keys; their bytes come with the first job that needs them.
 */
export class Jobs {
  constructor({ module, builtin }) {
    this.module = module;
    this.builtin = builtin;
    this.attached = new Map();
  }

  /** Does a job; `onProgress` hears of the pixels of every tile an encoder has done. */
  async run({ call, args, needs = [] }, onProgress) {
    this.onProgress = onProgress;
    this.created ??= Codec.create(this.module, this.builtin, (pixels) => this.onProgress?.(pixels));
    this.codec = await this.created;
    try {
      for (const need of needs) this.attach(need);
      return await this[call](args);
    } catch (error) {
      if (!(error instanceof WebAssembly.RuntimeError || error instanceof RangeError)) throw error;
      this.forget();
      throw new TesseraError('internal', `the decoder stopped (${error.message}); the file asks for too much memory, or this is a fault of tessera-codec`);
    }
  }

  /** Whether the instance holds more memory than is good for a page. */
  get isBloated() {
    return this.codec !== undefined && this.codec.memory > MEMORY_KEPT;
  }

  /** Drops the instance and all it knows. */
  forget() {
    this.created = this.codec = undefined;
    this.attached.clear();
  }

  attach(need) {
    const { kind, key, bytes } = need;
    if (this.attached.has(key)) return;
    if (bytes === undefined) throw new TesseraError('internal', `${kind} ${key} never came`);
    this.attached.set(key, this.opened(need));
  }

  opened({ kind, bytes, length, end, dictionary, shared, pack, index }) {
    switch (kind) {
      case 'colour': return { module: bytes };
      case 'picture': return this.codec.open(bytes, length);
      case 'pack': return this.codec.openPack(bytes, end, length, dictionary, shared);
      case 'predicting': return this.codec.addPredicting(this.attached.get(pack).pack, index, bytes);
      default: return this.codec.addDictionary(bytes);
    }
  }

  head({ picture }) {
    const { info, tiles } = this.attached.get(picture);
    return { info, tiles };
  }

  async tile({ picture, index, bytes }) {
    const data = this.codec.decodeTile(this.attached.get(picture).number, index, bytes);
    await this.toSrgb(picture, data);
    return data;
  }

  preview({ picture }) {
    return this.shown(picture, this.codec.preview(this.attached.get(picture).number));
  }

  tileStart({ picture, index, bytes }) {
    return this.shown(picture, this.codec.tileStart(this.attached.get(picture).number, index, bytes));
  }

  /** An image of an open picture in sRGB, if there is one. */
  async shown(picture, image) {
    if (image) await this.toSrgb(picture, image.data);
    return image;
  }

  /** Turns pixels of an open picture into sRGB, if it has another profile. */
  async toSrgb(picture, data) {
    const open = this.attached.get(picture);
    if (!open?.info.profile) return;
    open.colour ??= await Colour.create(this.attached.get('colour').module, this.codec.profile(open.number));
    open.colour.toSrgb(data);
  }

  close({ picture }) {
    const open = this.attached.get(picture);
    if (open?.pack !== undefined) this.codec.closePack(open.pack);
    else if (open) this.codec.close(open.number);
    this.attached.delete(picture);
  }

  packIndex({ pack }) {
    return this.attached.get(pack).info;
  }

  packFile({ pack, index, bytes, key }) {
    return this.codec.packFile(this.attached.get(pack).pack, index, bytes, key);
  }

  dictionaryId({ dictionary }) {
    return this.attached.get(dictionary).id;
  }

  describe({ bytes }) {
    return this.codec.describe(bytes);
  }

  async decode({ bytes, picture, ...options }) {
    return this.shown(picture, this.codec.decode(bytes, options));
  }

  encode({ pixels, dictionary, ...settings }) {
    return this.codec.encode(pixels, { ...settings, dictionary: this.attached.get(dictionary)?.number ?? -1 });
  }

  ssimulacra2({ a, b, width, height }) {
    return this.codec.ssimulacra2(a, b, width, height);
  }
}
