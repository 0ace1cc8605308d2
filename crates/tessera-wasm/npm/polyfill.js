import { TesseraError, decode } from './index.js';

/** Whether an address is that of a Tessera picture. */
function isTessera(address) {
  try {
    return new URL(address, document.baseURI).pathname.toLowerCase().endsWith('.tsr');
  } catch {
    return false;
  }
}

function canvasOf(image) {
  const canvas = document.createElement('canvas');
  Object.assign(canvas, { width: image.width, height: image.height });
  canvas.getContext('2d').putImageData(image, 0, 0);
  return new Promise((resolve) => canvas.toBlob(resolve, 'image/png'));
}

/** Shows what an `<img>` was pointed at: its picture is decoded and takes the place of the address. */
async function show(element) {
  const address = element.getAttribute('src');
  if (!address || !isTessera(address)) return;
  element.dataset.tesseraSrc = address;
  const current = () => element.getAttribute('src') === address;
  try {
    const response = await fetch(new URL(address, document.baseURI));
    const blob = await canvasOf(await decode(response));
    if (!current()) return;
    if (!blob) throw new TesseraError('memory', 'the picture is too large for a canvas of this browser');
    const url = URL.createObjectURL(blob);
    element.addEventListener('load', () => URL.revokeObjectURL(url), { once: true });
    element.src = url;
  } catch (error) {
    if (current()) element.dispatchEvent(new CustomEvent('tessera-error', { bubbles: true, detail: error }));
  }
}

/** All images in a part of the page. */
function showAll(root) {
  if (root instanceof HTMLImageElement) show(root);
  else root.querySelectorAll?.('img').forEach(show);
}

/** Watches the page: images that are there, that come, and that change. Returns a function that stops it. */
export function install(root = document) {
  const observer = new MutationObserver((changes) => {
    for (const { type, target, addedNodes } of changes) {
      if (type === 'attributes') showAll(target);
      else addedNodes.forEach(showAll);
    }
  });
  observer.observe(root, { subtree: true, childList: true, attributes: true, attributeFilter: ['src'] });
  showAll(root);
  return () => observer.disconnect();
}

install();
