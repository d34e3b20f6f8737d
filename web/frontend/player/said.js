// A word over the picture for a moment ("+10 s"), or for as long as something lasts.

export class Said {
  #place;
  #timer;
  #lasting = "";

  constructor(place) {
    this.#place = place;
  }

  briefly(words) {
    this.#show(words);
    this.#timer = setTimeout(() => this.#show(this.#lasting), 900);
  }

  /** Until `hush`; spoken to those who listen. */
  lasting(words) {
    this.#lasting = words;
    this.#place.setAttribute("role", "status");
    this.#place.removeAttribute("aria-hidden");
    this.#show(words);
  }

  hush() {
    this.#lasting = "";
    this.#place.setAttribute("aria-hidden", "true");
    this.#show("");
  }

  #show(words) {
    clearTimeout(this.#timer);
    if (words) this.#place.textContent = words;
    this.#place.classList.toggle("shown", words !== "");
  }
}
