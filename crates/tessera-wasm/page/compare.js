/** Two pictures of one size in one place, a divider between them, and a zoom. */
export class Comparison {
  constructor(root) {
    this.root = root;
    this.part = (id) => document.getElementById(id);
    this.layers = this.part('layers');
    this.scroll = this.part('scroll');
    this.slider = this.part('slider');
    this.slider.addEventListener('input', () => this.split(Number(this.slider.value)));
    this.layers.addEventListener('pointerdown', (event) => this.drag(event));
    root.querySelectorAll('[data-zoom]').forEach((button) => {
      button.addEventListener('click', () => this.zoom(button.dataset.zoom));
    });
    new ResizeObserver(() => this.layout()).observe(this.scroll);
    this.size = { width: 1, height: 1 };
    this.zoom('fit');
    this.split(50);
  }

  /** Prepares for pictures of a size, one of them or two. */
  prepare(width, height, single) {
    this.size = { width, height };
    this.root.classList.toggle('single', single);
    for (const side of ['left', 'right']) Object.assign(this.canvas(side), { width, height });
    this.zoom('fit');
  }

  canvas(side) {
    return this.part(`canvas-${side}`);
  }

  show(side, image) {
    const context = this.canvas(side).getContext('2d');
    if (image) context.putImageData(image, 0, 0);
    else context.clearRect(0, 0, this.size.width, this.size.height);
  }

  /** Moves the divider to a place in percent of the width. */
  split(percent) {
    const place = Math.max(0, Math.min(100, percent));
    this.slider.value = place;
    this.layers.style.setProperty('--split', `${place}%`);
  }

  drag(event) {
    const follow = ({ clientX }) => {
      const { left, width } = this.layers.getBoundingClientRect();
      this.split((100 * (clientX - left)) / width);
    };
    follow(event);
    this.layers.setPointerCapture(event.pointerId);
    this.layers.addEventListener('pointermove', follow);
    const release = () => this.layers.removeEventListener('pointermove', follow);
    this.layers.addEventListener('pointerup', release, { once: true });
    this.layers.addEventListener('pointercancel', release, { once: true });
  }

  zoom(zoom) {
    this.factor = zoom;
    this.root.querySelectorAll('[data-zoom]').forEach((button) => {
      button.setAttribute('aria-pressed', String(button.dataset.zoom === zoom));
    });
    this.layout();
  }

  /** Small pictures are enlarged to fit, with their pixels to be seen. */
  layout() {
    const { clientWidth, clientHeight } = this.scroll;
    const fit = Math.min(clientWidth / this.size.width, clientHeight / this.size.height);
    const factor = this.factor === 'fit' ? fit : Number(this.factor) / (devicePixelRatio || 1);
    this.layers.style.width = `${Math.round(this.size.width * factor)}px`;
    this.layers.style.height = `${Math.round(this.size.height * factor)}px`;
    this.layers.style.imageRendering = factor >= 2 ? 'pixelated' : 'auto';
  }
}
