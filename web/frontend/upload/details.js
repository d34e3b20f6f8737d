// What is said of a video, kept as it is typed.
import { call } from "../api.js";
import { backInSight, backOff, pause } from "../waiting.js";
import { upload as words } from "../words.js";

const QUIET = 700;

/** Fills the form with the video of `id` and saves each change; `onTitle` hears the title as it stands. */
export class Details {
  #changed = new Map();
  #saving = false;
  #timer;

  constructor(form, saved, onTitle) {
    this.form = form;
    this.saved = saved;
    this.onTitle = onTitle;
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("input", (event) => this.#note(event.target, QUIET));
    form.addEventListener("change", (event) => this.#note(event.target, 0));
  }

  get isUnsaved() {
    return this.#changed.size > 0 || this.#saving;
  }

  async open(id) {
    this.id = id;
    const video = await call("GET", `/api/v1/videos/${id}`).catch(() => null);
    if (!video) return;
    for (const name of ["title", "description", "language", "privacy"]) this.#fill(name, video[name] ?? "");
    for (const name of ["tags", "actors", "directors"]) this.#fill(name, (video[name] ?? []).join(", "));
    this.onTitle(video.title);
  }

  #fill(name, value) {
    if (!this.#changed.has(name)) this.form.elements[name].value = value;
  }

  #note(field, wait) {
    if (!field.name) return;
    if (field.name === "title") this.onTitle(field.value);
    this.#changed.set(field.name, field.value);
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#save(), wait);
  }

  async #save() {
    if (this.#saving || !this.id) return;
    this.#saving = true;
    for (let tries = 0; this.#changed.size > 0; ) {
      const sending = new Map(this.#changed);
      this.#changed.clear();
      try {
        await this.#send(sending);
        tries = 0;
      } catch {
        this.#changed = new Map([...sending, ...this.#changed]);
        this.#say(words.notSaved, true);
        await pause(backOff(tries++, { first: 1, most: 20 }), { events: backInSight });
      }
    }
    this.#saving = false;
  }

  async #send(fields) {
    this.#say(words.saving);
    try {
      await call("PATCH", `/api/v1/videos/${this.id}`, { body: Object.fromEntries(fields) });
      for (const name of fields.keys()) this.#wrong(name, "");
      this.#say(words.saved);
    } catch (error) {
      if (error.status !== 400) throw error;
      this.#refused(fields, error.message);
    }
  }

  /** The server names the field that cannot be so ("Language: a code such as en"); the others are sent again without it. */
  #refused(fields, message) {
    const [, name, rest] = /^(\w+): (.*)$/s.exec(message) ?? [];
    const field = name && fields.has(name.toLowerCase()) ? name.toLowerCase() : [...fields.keys()][0];
    this.#wrong(field, rest ? rest[0].toUpperCase() + rest.slice(1) : message);
    for (const [other, value] of fields) {
      if (other !== field && !this.#changed.has(other)) this.#changed.set(other, value);
    }
    this.#say("");
  }

  #wrong(name, message) {
    const [field] = [this.form.elements[name]].flat();
    const box = (field instanceof RadioNodeList ? field[0] : field).closest(".field");
    const input = box.querySelector("input, textarea");
    box.querySelector(".field-error")?.remove();
    input.toggleAttribute("aria-invalid", message !== "");
    if (!message) return;
    const error = document.createElement("p");
    Object.assign(error, { className: "field-error", id: `${input.id || name}-error`, textContent: message });
    error.setAttribute("role", "alert");
    input.setAttribute("aria-invalid", "true");
    input.setAttribute("aria-errormessage", error.id);
    box.append(error);
  }

  #say(text, wrong = false) {
    this.saved.textContent = text;
    this.saved.classList.toggle("wrong", wrong);
  }
}
