// How much happens at once, over all files: so many blocks on the wire, so many files with a turn.

export class Slots {
  #free;
  #waiting = [];

  constructor(count) {
    this.#free = count;
  }

  /** Runs `work` when a slot is free; who came first goes first. Rejects, giving up its place, when `signal` fires. */
  async run(work, signal) {
    await this.#take(signal);
    try {
      return await work();
    } finally {
      this.#give();
    }
  }

  #take(signal) {
    signal?.throwIfAborted();
    if (this.#free > 0) {
      this.#free -= 1;
      return undefined;
    }
    return new Promise((resolve, reject) => {
      this.#waiting.push(resolve);
      signal?.addEventListener("abort", () => {
        const place = this.#waiting.indexOf(resolve);
        if (place < 0) return;
        this.#waiting.splice(place, 1);
        reject(signal.reason);
      }, { once: true });
    });
  }

  #give() {
    const next = this.#waiting.shift();
    if (next) next();
    else this.#free += 1;
  }
}
