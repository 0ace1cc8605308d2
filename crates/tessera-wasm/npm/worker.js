import { Jobs } from './jobs.js';

let jobs;

/** The buffers of a result, which are handed over and not copied. */
function buffers(result) {
  const found = [result, result?.data].filter((value) => value instanceof ArrayBuffer);
  return [...new Set(found)];
}

self.onmessage = async ({ data }) => {
  if (data.setup) {
    jobs = new Jobs(data.setup);
    return;
  }
  const { id, job } = data;
  try {
    const result = await jobs.run(job, (pixels) => self.postMessage({ id, progress: pixels }));
    self.postMessage({ id, result, retire: jobs.isBloated }, buffers(result));
  } catch (error) {
    const { code = 'internal', message } = error;
    self.postMessage({ id, error: { code, message }, retire: code === 'internal' });
  }
};
