/** Draws a small picture of the whole over all of a canvas. */
export function drawPreview(context, image) {
  const small = document.createElement('canvas');
  Object.assign(small, { width: image.width, height: image.height });
  small.getContext('2d').putImageData(image, 0, 0);
  context.imageSmoothingQuality = 'high';
  context.drawImage(small, 0, 0, context.canvas.width, context.canvas.height);
}
