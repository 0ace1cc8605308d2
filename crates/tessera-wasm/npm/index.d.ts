/** Bytes, or something that gives them. */
export type Bytes = ArrayBuffer | ArrayBufferView | Blob | Response | URL | string;

/** A file: bytes that are here, or that are still arriving. */
export type Source = Bytes | ReadableStream<Uint8Array>;

/** A rectangle of pixels inside a picture. */
export interface Region {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** What a file says of its picture. */
export interface PictureInfo {
  width: number;
  height: number;
  /** Samples of a pixel: 1 (gray), 2 (gray, alpha), 3 (RGB) or 4 (RGB, alpha). */
  channels: number;
  gray: boolean;
  alpha: boolean;
  /** Bits of a sample: 8, 10, 12 or 16. */
  depth: number;
  /** Whether its colours have a profile of their own; `decode` turns them into sRGB. */
  profile: boolean;
  /** Whether the file begins with a small picture of the whole. */
  preview: boolean;
  /** Number of tiles, which are decoded side by side. */
  tiles: number;
  /** The dictionary it needs: `builtin:N`, or the identity of a learned one in hexadecimal digits. */
  dictionary: string;
}

/** Pixels that have just been decoded. */
export interface Tile {
  /** Where they belong in the whole picture. */
  x: number;
  y: number;
  image: ImageData;
}

export interface DecodeOptions {
  /** Only this part of the picture; only its tiles are decoded. */
  region?: Region;
  /** Scales down, by exact means, until no side is longer than this. */
  maxSide?: number;
  /** Learned dictionaries (the content of `.tsd` files) beside the built-in one. */
  dictionaries?: (ArrayBuffer | ArrayBufferView)[];
  signal?: AbortSignal;
  /** Hears what the picture is, before any of it is decoded. */
  onHeader?: (info: PictureInfo) => void;
  /** Gets a small picture of the whole, if the file begins with one, before any tile. */
  onPreview?: (image: ImageData) => void;
  /** Hears of every tile, in the order in which they are done. */
  onTile?: (tile: Tile) => void;
  /** Hears of the upper rows of tiles of which not all bytes are there yet; not yet filtered, the tile itself follows. */
  onPart?: (part: Tile) => void;
}

/** Samples as they are stored, row by row, channels interleaved. */
export interface Samples {
  width: number;
  height: number;
  channels: number;
  depth: number;
  data: Uint8Array | Uint16Array;
}

export interface EncodeOptions {
  /** 0 (smallest) to 100 (almost indistinguishable); 75 unless told otherwise. */
  quality?: number;
  /** Most bytes of the file; the best picture that fits. Instead of a quality, and several times slower. */
  size?: number;
  /** How hard to search, 1 (fast) to 9 (smallest files); 5 unless told otherwise. */
  effort?: number;
  /** Begins the file with a small picture of the whole, of about a kilobyte, to be shown while the rest arrives. */
  preview?: boolean;
  /** A learned dictionary (the content of a `.tsd` file), which whoever decodes the file needs too. */
  dictionary?: ArrayBuffer | ArrayBufferView;
  signal?: AbortSignal;
  /** Hears how much is done, from 0 to 1. */
  onProgress?: (share: number) => void;
}

/** What goes wrong. The message is a sentence for people: what is wrong, and what to do. */
export class TesseraError extends Error {
  readonly code:
    | 'parameter' | 'format' | 'dictionary' | 'limits' | 'incomplete' | 'memory' | 'internal' | 'aborted' | 'other';
}

export interface InitOptions {
  /** The decoder's module, if it does not lie beside `index.js`. */
  decoder?: Bytes | WebAssembly.Module | (() => unknown);
  /** The encoder's module, likewise. It is loaded when something is encoded. */
  encoder?: Bytes | WebAssembly.Module | (() => unknown);
  /** The module for colour profiles, likewise. It is loaded when a picture has one. */
  colour?: Bytes | WebAssembly.Module | (() => unknown);
  /** The built-in dictionary, likewise. It is kept in the browser's cache. */
  dictionary?: Bytes | (() => unknown);
  /** The worker's script, or a function that starts a worker. */
  worker?: URL | string | (() => Worker);
  /** Most workers to use: one per core and at most 8 unless told otherwise; 0 for the calling thread alone. */
  workers?: number;
}

/** Says where things are, and loads what decoding needs. Optional: the first call does so with the files of the package. */
export function init(options?: InitOptions): Promise<void>;

/** Ends all workers; the next call starts afresh. */
export function end(): void;

/** Decodes a file to sRGB with 8 bits. Of a `Response` or stream, tiles are decoded as they arrive. */
export function decode(source: Source, options?: DecodeOptions): Promise<ImageData>;

/** Decodes a file to its samples as they are stored: any depth, gray as one channel, colours as its profile has them. */
export function decodeSamples(source: Source, options?: Omit<DecodeOptions, 'onHeader' | 'onPreview' | 'onTile' | 'onPart'>): Promise<Samples>;

/** The pictures of a pack, which are read when they are asked for. */
export interface Pack {
  /** The names of all pictures, in order. */
  readonly names: string[];
  /** The dictionary in the pack, unless its pictures need none but the built-in one. */
  readonly dictionary?: Uint8Array;
  /** Bytes that a picture takes in the pack. */
  bytes(name: string): number;
  /** Decodes a picture. */
  decode(name: string, options?: Omit<DecodeOptions, 'dictionaries'>): Promise<ImageData>;
  /** Decodes a picture to its samples as they are stored. */
  decodeSamples(name: string, options?: Omit<DecodeOptions, 'dictionaries' | 'onHeader' | 'onPreview' | 'onTile' | 'onPart'>): Promise<Samples>;
  /** A picture as a `.tsr` file of its own, which needs the dictionary of the pack. */
  file(name: string, options?: { signal?: AbortSignal }): Promise<Uint8Array>;
  /** Forgets the pack. */
  close(): Promise<void>;
}

/** Opens a pack (a `.tsp` file). Of a `Blob` only the index is read, and then the pictures that are asked for. */
export function openPack(source: Bytes): Promise<Pack>;

/** What a file says of its picture, without decoding it. */
export function describe(source: Bytes): Promise<PictureInfo>;

/** The identity of a learned dictionary (the content of a `.tsd` file), as `describe` names it; rejects if it is none. */
export function dictionaryId(dictionary: ArrayBuffer | ArrayBufferView): Promise<string>;

/** Encodes a picture in sRGB to the bytes of a file. */
export function encode(image: ImageData, options?: EncodeOptions): Promise<Uint8Array>;

/** SSIMULACRA2 between two pictures of the same size: 100 if they are the same, 90 if hardly anybody sees a difference. */
export function ssimulacra2(a: ImageData, b: ImageData, options?: { signal?: AbortSignal }): Promise<number>;
