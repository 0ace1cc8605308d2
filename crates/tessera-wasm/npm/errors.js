/** The causes of failures, numbered as the module numbers them. */
const CAUSES = [
  undefined, 'other', 'parameter', 'format', 'dictionary', 'limits', 'incomplete', 'memory', 'internal', 'aborted',
];

/** What goes wrong: `code` for programs, `message` for people. */
export class TesseraError extends Error {
  constructor(code, message) {
    super(message);
    this.name = 'TesseraError';
    this.code = code;
  }

  /** The error behind a negative status of the module. */
  static ofStatus(status, message) {
    return new TesseraError(CAUSES[-status] ?? 'other', message);
  }
}

/** What is thrown when a caller's signal says stop. */
export function abortError(signal) {
  return signal?.reason ?? new TesseraError('aborted', 'stopped before the picture was done');
}
