import { TesseraError } from './errors.js';

const CACHE = 'tessera-codec';

/** Fetches, in Node from the disk too. */
async function request(url) {
  if (new URL(url).protocol === 'file:' && globalThis.process?.versions?.node) {
    const { readFile } = await import(/* webpackIgnore: true */ /* @vite-ignore */ 'node:fs/promises');
    return new Response(await readFile(new URL(url)));
  }
  const response = await fetch(url);
  if (!response.ok) throw new TesseraError('other', `${url} cannot be fetched: ${response.status} ${response.statusText}`);
  return response;
}

/** Where a relative address starts from. */
function absolute(url) {
  return new URL(url, globalThis.document?.baseURI ?? globalThis.location?.href).href;
}

/** The response to a source that is an address, a `Response` or a function that gives one of these; or bytes, or a module. */
async function resolved(source) {
  const given = typeof source === 'function' ? await source() : await source;
  return typeof given === 'string' || given instanceof URL ? request(absolute(given)) : given;
}

/** Whatever holds bytes, as bytes. */
export async function bytesOf(source) {
  const given = await resolved(source);
  if (given instanceof Uint8Array) return given;
  if (ArrayBuffer.isView(given)) return new Uint8Array(given.buffer, given.byteOffset, given.byteLength);
  if (given instanceof ArrayBuffer) return new Uint8Array(given);
  if (typeof given?.arrayBuffer === 'function') return new Uint8Array(await given.arrayBuffer());
  throw new TesseraError('parameter', 'bytes are an ArrayBuffer, a typed array, a Blob, a Response or an address');
}

/** A compiled module. */
export async function moduleOf(source) {
  const given = await resolved(source);
  if (given instanceof WebAssembly.Module) return given;
  const type = given instanceof Response && given.headers.get('content-type');
  if (type === 'application/wasm') return WebAssembly.compileStreaming(given);
  return WebAssembly.compile(await bytesOf(given));
}

/**
 * The bytes behind an address that never changes, kept in the browser's cache where there is one (it takes a page from
 * https or localhost). `check` throws if they are not what they should be; what was kept is then fetched again.
 */
export async function cachedBytes(source, check) {
  const given = typeof source === 'function' ? await source() : source;
  const url = typeof given === 'string' || given instanceof URL ? absolute(given) : undefined;
  if (url === undefined || !globalThis.caches || !url.startsWith('http')) return bytesOf(given);
  const cache = await caches.open(CACHE);
  const kept = await cache.match(url);
  if (kept) {
    const bytes = await bytesOf(kept);
    if (await check(bytes).then(() => true, () => false)) return bytes;
  }
  const fresh = await request(url);
  await cache.put(url, fresh.clone());
  return bytesOf(fresh);
}
