import { TesseraError, abortError } from './errors.js';
import { Jobs } from './jobs.js';

/** One worker, one job at a time. It remembers which attachments the worker has. */
class Hand {
  constructor(worker, setup) {
    this.worker = worker;
    this.known = new Set();
    this.id = 0;
    worker.postMessage({ setup });
    worker.onmessage = ({ data }) => this.hear(data);
    worker.onerror = (event) => {
      event.preventDefault?.();
      this.hear({ id: this.id, error: { code: 'internal', message: event.message ?? 'a worker cannot be started' }, retire: true });
    };
  }

  start(task, done) {
    this.task = task;
    this.done = done;
    const sent = (task.job.needs ?? []).map((need) => (this.known.has(need.key) ? { kind: need.kind, key: need.key } : need));
    for (const { key } of sent) this.known.add(key);
    this.id += 1;
    this.worker.postMessage({ id: this.id, job: { ...task.job, needs: sent } }, task.transfer);
  }

  /** Hears of the current job; answers to a `close` have no job any more. */
  hear({ id, result, error, progress, retire = false }) {
    const { task } = this;
    if (task === undefined || id !== this.id) return;
    if (progress !== undefined) {
      task.onProgress?.(progress);
      return;
    }
    this.task = undefined;
    if (error) for (const { key } of task.job.needs ?? []) this.known.delete(key);
    this.done(this, retire);
    if (error) task.reject(new TesseraError(error.code, error.message));
    else task.resolve(result);
  }
}

/** Workers that share nothing: each has an instance of the module and the dictionaries of its own. */
export class WorkerPool {
  constructor(spawn, size, setup) {
    Object.assign(this, { spawn, size, setup, queue: [], idle: [], hands: new Set() });
  }

  /** Does a job on the next free worker. */
  run(job, { transfer = [], signal, onProgress } = {}) {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) throw abortError(signal);
      const stop = () => this.abort(task, abortError(signal));
      const settle = (settled) => (value) => {
        signal?.removeEventListener('abort', stop);
        settled(value);
      };
      const task = { job, transfer, onProgress, resolve: settle(resolve), reject: settle(reject) };
      signal?.addEventListener('abort', stop);
      this.queue.push(task);
      this.next();
    });
  }

  /** Tells every worker that has a picture open to forget it. */
  close(picture) {
    for (const hand of this.hands) {
      if (!hand.known.delete(picture)) continue;
      hand.worker.postMessage({ id: -1, job: { call: 'close', args: { picture } } });
    }
  }

  next() {
    while (this.queue.length > 0) {
      const hand = this.freeHand();
      if (hand === undefined) return;
      hand.start(this.queue.shift(), (done, retire) => {
        if (retire) this.dismiss(done);
        else this.idle.push(done);
        this.next();
      });
    }
  }

  freeHand() {
    const idle = this.idle.pop();
    if (idle || this.hands.size >= this.size) return idle;
    const hand = new Hand(this.spawn(), this.setup);
    this.hands.add(hand);
    return hand;
  }

  /** A worker cannot be interrupted, so the one at work on an aborted job is ended, and replaced when there is need. */
  abort(task, reason) {
    const queued = this.queue.indexOf(task);
    if (queued >= 0) this.queue.splice(queued, 1);
    for (const hand of this.hands) if (hand.task === task) this.dismiss(hand);
    task.reject(reason);
    this.next();
  }

  dismiss(hand) {
    hand.task = undefined;
    hand.worker.terminate();
    this.hands.delete(hand);
  }

  end() {
    for (const hand of [...this.hands]) this.dismiss(hand);
    for (const task of this.queue.splice(0)) task.reject(new TesseraError('aborted', 'the pool has ended'));
    this.idle = [];
  }
}

/** The same interface where there are no workers: jobs are done on the thread of the caller. */
export class LocalPool {
  constructor(setup) {
    this.jobs = new Jobs(setup);
    this.turn = Promise.resolve();
  }

  run(job, { signal, onProgress } = {}) {
    const work = async () => {
      if (signal?.aborted) throw abortError(signal);
      const result = await this.jobs.run(job, onProgress);
      if (this.jobs.isBloated) this.jobs.forget();
      return result;
    };
    this.turn = this.turn.then(work, work);
    return this.turn;
  }

  close(picture) {
    this.run({ call: 'close', args: { picture } }).catch(() => {});
  }

  end() {
    this.jobs.forget();
  }
}
