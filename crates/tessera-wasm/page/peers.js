/** Steps of the search for a quality: 2^-8 is finer than the scales of the browser's encoders. */
const STEPS = 8;
/** At quality 1 Chromium writes lossless WebP. */
const BEST = 0.99;

/** What this browser writes by itself. */
export const PEERS = [
  { id: 'webp', label: 'WebP', type: 'image/webp' },
  { id: 'jpeg', label: 'JPEG', type: 'image/jpeg' },
];

export function canvasOf(image) {
  const canvas = document.createElement('canvas');
  Object.assign(canvas, { width: image.width, height: image.height });
  canvas.getContext('2d').putImageData(image, 0, 0);
  return canvas;
}

/** The pixels of a picture in any format the browser reads, no more than `most` of them. */
export async function pixelsOf(blob, most = Infinity) {
  const bitmap = await createImageBitmap(blob);
  const scale = Math.min(1, Math.sqrt(most / (bitmap.width * bitmap.height)));
  const canvas = document.createElement('canvas');
  canvas.width = Math.max(1, Math.round(bitmap.width * scale));
  canvas.height = Math.max(1, Math.round(bitmap.height * scale));
  const context = canvas.getContext('2d', { willReadFrequently: true });
  context.imageSmoothingQuality = 'high';
  context.drawImage(bitmap, 0, 0, canvas.width, canvas.height);
  bitmap.close();
  return { image: context.getImageData(0, 0, canvas.width, canvas.height), scaled: scale < 1 };
}

/** The best file of a format with at most so many bytes, or its smallest one. `undefined` if the browser has no encoder. */
export async function atSize(canvas, type, bytes, signal) {
  const encode = (quality) => new Promise((resolve) => canvas.toBlob(resolve, type, quality));
  let best = await encode(0);
  if (best?.type !== type) return undefined;
  let [low, high] = [0, BEST];
  for (let step = 0; step < STEPS; step += 1) {
    signal.throwIfAborted();
    const quality = (low + high) / 2;
    const blob = await encode(quality);
    if (blob.size > bytes) {
      high = quality;
    } else {
      low = quality;
      best = blob;
    }
  }
  return best;
}
