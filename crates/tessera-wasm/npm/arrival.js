import { bytesOf } from './loading.js';
import { TesseraError } from './errors.js';

/** The bytes of a file, while they arrive. */
export class Arrival {
  constructor() {
    Object.assign(this, { buffer: new Uint8Array(0), length: 0, done: false, waiting: [] });
  }

  /** Of bytes that are here, or of a `Response` or `ReadableStream`. */
  static async of(source, signal) {
    const arrival = new Arrival();
    const stream = source instanceof Response ? source.body : source;
    if (typeof ReadableStream !== 'undefined' && stream instanceof ReadableStream) {
      if (source instanceof Response && !source.ok) {
        throw new TesseraError('other', `${source.url} cannot be fetched: ${source.status} ${source.statusText}`);
      }
      arrival.read(stream, signal);
      return arrival;
    }
    arrival.buffer = await bytesOf(source);
    arrival.length = arrival.buffer.length;
    arrival.done = true;
    return arrival;
  }

  async read(stream, signal) {
    const reader = stream.getReader();
    const stop = () => reader.cancel().catch(() => {});
    signal?.addEventListener('abort', stop);
    try {
      for (;;) {
        const { value, done } = await reader.read();
        if (done) break;
        this.append(value);
      }
    } catch (error) {
      this.error = new TesseraError('other', `the picture stopped arriving: ${error.message}`);
    }
    signal?.removeEventListener('abort', stop);
    this.done = true;
    this.wake();
  }

  append(chunk) {
    const length = this.length + chunk.length;
    if (length > this.buffer.length) {
      const larger = new Uint8Array(Math.max(length, 2 * this.buffer.length));
      larger.set(this.buffer.subarray(0, this.length));
      this.buffer = larger;
    }
    this.buffer.set(chunk, this.length);
    this.length = length;
    this.wake();
  }

  wake() {
    const waiting = this.waiting.splice(0);
    for (const { length, resolve, reject } of waiting) {
      if (this.error) reject(this.error);
      else if (this.done || this.length >= length) resolve();
      else this.waiting.push({ length, resolve, reject });
    }
  }

  /** Waits until so many bytes are here, or no more will come. */
  until(length) {
    return new Promise((resolve, reject) => {
      this.waiting.push({ length, resolve, reject });
      this.wake();
    });
  }

  /** A copy of some bytes that are here. */
  slice(start, end) {
    return this.buffer.slice(start, Math.min(end, this.length));
  }
}
