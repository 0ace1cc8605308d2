/** Longest side of the small pictures, in pixels. */
const THUMBNAIL = 320;
/** Pictures this near to what is seen are decoded too. */
const NEARBY = '400px';

/** The pictures of a pack, small; those in sight are decoded, each once. */
export class Gallery {
  constructor(list, onChoose) {
    this.list = list;
    this.onChoose = onChoose;
  }

  /** Shows a pack; what was under way of another is stopped. */
  show(pack) {
    this.stop();
    this.pack = pack;
    this.run = new AbortController();
    this.observer = new IntersectionObserver((seen) => this.look(seen), { rootMargin: NEARBY });
    this.list.replaceChildren(...pack.names.map((name) => this.tile(name)));
    for (const tile of this.list.children) this.observer.observe(tile);
  }

  stop() {
    this.run?.abort();
    this.observer?.disconnect();
    this.pack?.close();
    this.pack = undefined;
    this.list.replaceChildren();
  }

  tile(name) {
    const tile = document.createElement('button');
    tile.type = 'button';
    tile.className = 'tile';
    tile.dataset.name = name;
    tile.append(document.createElement('canvas'), Object.assign(document.createElement('span'), { textContent: name }));
    tile.addEventListener('click', () => this.onChoose(this.pack, name));
    return tile;
  }

  look(seen) {
    for (const { target } of seen.filter(({ isIntersecting }) => isIntersecting)) {
      this.observer.unobserve(target);
      this.draw(target, this.pack, this.run.signal);
    }
  }

  async draw(tile, pack, signal) {
    try {
      const image = await pack.decode(tile.dataset.name, { maxSide: THUMBNAIL, signal });
      const canvas = tile.querySelector('canvas');
      Object.assign(canvas, { width: image.width, height: image.height });
      canvas.getContext('2d').putImageData(image, 0, 0);
      tile.classList.add('drawn');
    } catch (error) {
      if (signal.aborted) return;
      tile.classList.add('failed');
      tile.title = error.message;
    }
  }
}
