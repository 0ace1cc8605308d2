/**
 * `<tessera-img src="photo.tsr" alt="...">`: an image that appears as its bytes arrive: a preview if the file has one, then
 * tile by tile and row by row.
 *
 * Attributes: `src`, `alt`, `width`, `height`, `loading="lazy"`, `dictionary` (address of a learned one). Events: `load`,
 * `error` (a `CustomEvent` with a `TesseraError` in `detail`).
 */
export class TesseraImage extends HTMLElement {
  src: string;
  readonly naturalWidth: number;
  readonly naturalHeight: number;
  /** Whether the whole picture is shown. */
  readonly complete: boolean;
}

declare global {
  interface HTMLElementTagNameMap {
    'tessera-img': TesseraImage;
  }
}
