/**
 * `import 'tessera-codec/polyfill'` makes `<img src="photo.tsr">` work, now and for images that are added later. A picture
 * that cannot be shown sends the event `tessera-error` from its element, with the reason in `detail`.
 *
 * Watches another root too; returns a function that stops watching it.
 */
export function install(root?: Document | ShadowRoot | Element): () => void;
