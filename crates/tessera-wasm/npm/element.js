import { TesseraError, decode } from './index.js';
import { drawPreview } from './paint.js';

const STYLE = `
  :host { display: inline-block; max-width: 100%; }
  :host([hidden]) { display: none; }
  canvas { display: block; width: 100%; height: auto; }
  span:empty { display: none; }
`;

/** A length as `<img>` takes it: a plain number is pixels. */
function cssLength(value) {
  return /^\d+$/.test(value ?? '') ? `${value}px` : (value ?? '');
}

/** Learned dictionaries by their address, fetched once for all elements. */
const dictionaries = new Map();

async function dictionariesFrom(url) {
  if (!url) return [];
  const href = new URL(url, document.baseURI).href;
  if (!dictionaries.has(href)) {
    const fetched = fetch(href).then((response) => {
      if (!response.ok) throw new TesseraError('dictionary', `${href} cannot be fetched: ${response.status} ${response.statusText}`);
      return response.arrayBuffer();
    });
    fetched.catch(() => dictionaries.delete(href));
    dictionaries.set(href, fetched);
  }
  return [await dictionaries.get(href)];
}

/**
 * `<tessera-img src="photo.tsr" alt="...">`: an image that appears as its bytes arrive: a preview if the file has one, then
 * tile by tile and row by row.
 *
 * Attributes: `src`, `alt`, `width`, `height`, `loading="lazy"`, `dictionary` (address of a learned one). Events: `load`,
 * `error` (with the reason in `detail`).
 */
export class TesseraImage extends HTMLElement {
  static observedAttributes = ['src', 'alt', 'width', 'height', 'dictionary'];

  constructor() {
    super();
    this.attachShadow({ mode: 'open' }).innerHTML = `<style>${STYLE}</style><canvas width="0" height="0" part="canvas"></canvas><span part="alt"></span>`;
    this.canvas = this.shadowRoot.querySelector('canvas');
    this.complete = false;
  }

  get src() {
    return this.getAttribute('src') ?? '';
  }

  set src(value) {
    this.setAttribute('src', value);
  }

  get naturalWidth() {
    return this.canvas.width;
  }

  get naturalHeight() {
    return this.canvas.height;
  }

  connectedCallback() {
    this.setAttribute('role', this.getAttribute('role') ?? 'img');
    this.restart();
  }

  disconnectedCallback() {
    this.stop();
  }

  attributeChangedCallback(name) {
    if (name === 'alt') this.setAttribute('aria-label', this.getAttribute('alt') ?? '');
    else if (name === 'width' || name === 'height') this.resize();
    else if (this.isConnected) this.restart();
  }

  resize() {
    this.style.width = cssLength(this.getAttribute('width')) || (this.canvas.width ? `${this.canvas.width}px` : '');
    this.canvas.style.height = cssLength(this.getAttribute('height'));
  }

  stop() {
    this.controller?.abort();
    this.observer?.disconnect();
  }

  restart() {
    this.stop();
    this.complete = false;
    this.shadowRoot.querySelector('span').textContent = '';
    if (!this.src) return;
    if (this.getAttribute('loading') !== 'lazy') {
      this.load();
      return;
    }
    this.observer = new IntersectionObserver((entries) => {
      if (!entries.some((entry) => entry.isIntersecting)) return;
      this.observer.disconnect();
      this.load();
    }, { rootMargin: '50%' });
    this.observer.observe(this);
  }

  async load() {
    const { signal } = (this.controller = new AbortController());
    const context = this.canvas.getContext('2d');
    try {
      const [response, own] = await Promise.all([
        fetch(new URL(this.src, document.baseURI), { signal }),
        dictionariesFrom(this.getAttribute('dictionary')),
      ]);
      await decode(response, {
        signal,
        dictionaries: own,
        onHeader: ({ width, height }) => {
          Object.assign(this.canvas, { width, height });
          this.resize();
        },
        onPreview: (image) => drawPreview(context, image),
        onPart: ({ x, y, image }) => context.putImageData(image, x, y),
        onTile: ({ x, y, image }) => context.putImageData(image, x, y),
      });
      this.complete = true;
      this.dispatchEvent(new Event('load'));
    } catch (error) {
      if (signal.aborted) return;
      this.shadowRoot.querySelector('span').textContent = this.getAttribute('alt') ?? '';
      this.dispatchEvent(new CustomEvent('error', { detail: error }));
    }
  }
}

if (!customElements.get('tessera-img')) customElements.define('tessera-img', TesseraImage);
