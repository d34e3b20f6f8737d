// Uploads that wait for the rest of their file: from another visit, another browser, or one that crashed.
import { call } from "../api.js";
import { toast } from "../toast.js";
import { upload as words } from "../words.js";
import { forgetUpload } from "./memory.js";

const SHOWN = 20;

export class Unfinished {
  #waiting = [];

  /** `onFile` gets a file chosen for one of them, and that upload. */
  constructor(section, onFile) {
    this.section = section;
    this.list = section.querySelector("[data-unfinished-list]");
    this.template = document.querySelector("[data-unfinished-template]").content.firstElementChild;
    this.onFile = onFile;
  }

  /** Those the server knows and no tab is sending. */
  async find() {
    const { uploads } = await call("GET", "/api/v1/uploads").catch(() => ({ uploads: [] }));
    const busy = await inOtherTabs();
    this.#waiting = uploads.filter(({ video_id: id }) => !busy.has(id));
    this.list.replaceChildren();
    for (const upload of this.#waiting.slice(0, SHOWN)) this.list.append(this.#item(upload));
    this.#show();
    return this.#waiting;
  }

  get waiting() {
    return this.#waiting;
  }

  take(id) {
    this.#waiting = this.#waiting.filter((upload) => upload.video_id !== id);
    this.list.querySelector(`[data-id="${id}"]`)?.remove();
    this.#show();
  }

  #show() {
    this.section.hidden = this.list.children.length === 0;
  }

  #item(upload) {
    const item = this.template.cloneNode(true);
    const part = (name) => item.querySelector(`[data-${name}]`);
    item.dataset.id = upload.video_id;
    part("name").textContent = upload.title || upload.filename;
    part("name").title = upload.filename;
    part("choose").setAttribute("aria-label", `${part("choose").textContent.trim()}: ${upload.filename}`);
    part("choose").addEventListener("click", () => this.#choose(upload));
    part("discard").setAttribute("aria-label", `${part("discard").textContent.trim()}: ${upload.filename}`);
    part("discard").addEventListener("click", () => this.#discard(upload));
    this.#measure(upload, part("figures"));
    return item;
  }

  async #measure(upload, place) {
    place.textContent = words.unfinished(0, upload.size);
    const here = await call("GET", `/api/v1/uploads/${upload.video_id}`).catch(() => null);
    const sent = here?.blocks.reduce((sum, block) => sum + block.size, 0) ?? 0;
    place.textContent = words.unfinished(sent / upload.size, upload.size);
  }

  #choose(upload) {
    const input = Object.assign(document.createElement("input"), { type: "file" });
    input.addEventListener("change", () => {
      const [file] = input.files;
      if (file.size === upload.size && file.name.normalize("NFC") === upload.filename) this.onFile(file, upload);
      else toast(words.otherFile(upload.filename, upload.size));
    });
    input.click();
  }

  async #discard(upload) {
    try {
      await call("DELETE", `/api/v1/uploads/${upload.video_id}`);
    } catch (error) {
      if (error.status !== 404) return toast(words.discardFailed);
    }
    forgetUpload(upload.video_id);
    this.take(upload.video_id);
  }
}

async function inOtherTabs() {
  const held = navigator.locks ? (await navigator.locks.query()).held : [];
  return new Set(held.map(({ name }) => name.replace(/^upload:/, "")));
}
