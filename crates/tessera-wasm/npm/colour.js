import { TesseraError } from './errors.js';

/** An instance of the module for colour profiles, for one profile. */
export class Colour {
  /** Makes an instance of a compiled module. */
  static async create(module, profile) {
    const colour = new Colour();
    colour.exports = (await WebAssembly.instantiate(module, {})).exports;
    // Many profiles are that of sRGB itself.
    colour.differs = colour.withInput(profile, (at) => colour.exports.tessera_set_profile(at, profile.byteLength)) !== 0;
    return colour;
  }

  /** Turns RGBA of the profile into RGBA of sRGB, in place. */
  toSrgb(buffer) {
    if (!this.differs) return;
    const pixels = new Uint8Array(buffer);
    this.withInput(pixels, (at) => {
      this.exports.tessera_to_srgb(at, pixels.length);
      pixels.set(new Uint8Array(this.exports.memory.buffer, at, pixels.length));
    });
  }

  withInput(input, call) {
    const { tessera_alloc, tessera_free } = this.exports;
    const place = tessera_alloc(input.length);
    if (place === 0) throw new TesseraError('memory', `no memory for ${input.length} bytes`);
    new Uint8Array(this.exports.memory.buffer, place, input.length).set(input);
    const result = call(place);
    tessera_free(place, input.length);
    return result;
  }
}
