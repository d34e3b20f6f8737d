// How fast bytes flow, over the last ten seconds, so that the time left neither jumps nor lags.

const WINDOW = 10_000;

export class Meter {
  #marks = [];

  /** `sent` is all that was sent in this sitting. */
  mark(sent, now = performance.now()) {
    this.#marks.push({ sent, now });
    while (this.#marks.length > 2 && this.#marks[0].now < now - WINDOW) this.#marks.shift();
  }

  forget() {
    this.#marks = [];
  }

  /** Bytes a second. */
  get speed() {
    const [first, last] = [this.#marks[0], this.#marks.at(-1)];
    const time = last ? last.now - first.now : 0;
    return time > 400 ? Math.max(0, ((last.sent - first.sent) / time) * 1000) : 0;
  }
}
