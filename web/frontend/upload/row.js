// One file as a person sees it: picture, name, how far it is, what can be done, and its details.
import { copy } from "../copying.js";
import { upload as words } from "../words.js";
import { Details } from "./details.js";
import { glimpse } from "./glimpse.js";

const PAUSABLE = new Set(["waiting", "uploading", "lost", "busy", "full", "signin"]);
const ENDED = new Set(["done", "playable", "processing", "queued", "failed", "checking"]);
let rows = 0;

export class Row {
  #said = "";
  #drawn = 0;
  #scheduled = 0;

  constructor(transfer, { announce, gone }) {
    this.transfer = transfer;
    this.announce = announce;
    this.gone = gone;
    this.element = document.querySelector("[data-row-template]").content.firstElementChild.cloneNode(true);
    uniqueIds(this.element, `row-${rows++}`);
    const part = (name) => this.element.querySelector(`[data-${name}]`);
    this.part = part;
    this.title(transfer.file.name);
    part("bar").setAttribute("aria-label", transfer.file.name);
    this.details = new Details(part("form"), part("saved"), (title) => this.title(title));
    this.#wire();
    transfer.addEventListener("change", () => this.#schedule());
    transfer.addEventListener("opened", () => this.#opened());
    if (transfer.id) this.#opened();
    this.#draw();
    if (transfer.phase !== "stopped") this.#glimpse();
  }

  title(text) {
    this.part("name").textContent = text || this.transfer.file.name;
  }

  doubtful() {
    this.#trouble(words.doubtful);
    this.doubt = words.doubtful;
  }

  #wire() {
    const { transfer, part } = this;
    part("pause").addEventListener("click", () => this.#press(() => transfer.pause(), "resume"));
    part("resume").addEventListener("click", () => this.#press(() => transfer.run(), "pause"));
    part("again").addEventListener("click", () => this.#press(() => transfer.run(), "cancel"));
    part("copy-link").addEventListener("click", () => copy(transfer.url, words.linkCopied));
    part("cancel").addEventListener("click", () => this.gone(this));
  }

  /** The focus follows to the button that took the pressed one's place. */
  #press(action, next) {
    action();
    this.#draw();
    if (!this.part(next).hidden) this.part(next).focus();
  }

  #opened() {
    this.part("details").hidden = false;
    this.part("copy-link").hidden = false;
    this.part("watch").href = this.transfer.url;
    this.details.open(this.transfer.id);
  }

  /** Bytes move hundreds of times a second; eyes do not. */
  #schedule() {
    if (this.#scheduled) return;
    const wait = Math.max(0, 200 - (performance.now() - this.#drawn));
    this.#scheduled = setTimeout(() => {
      this.#scheduled = 0;
      this.#draw();
    }, wait);
  }

  #draw() {
    const { transfer, part } = this;
    const { phase } = transfer;
    this.#drawn = performance.now();
    this.element.dataset.phase = phase;
    part("state").textContent = stateWords(transfer);
    part("figures").textContent = figures(transfer);
    const bar = part("bar");
    bar.value = ["processing", "playable"].includes(phase) ? transfer.video.progress / 100 : transfer.share;
    bar.setAttribute("aria-valuetext", stateWords(transfer));
    part("pause").hidden = !PAUSABLE.has(phase);
    part("resume").hidden = phase !== "paused";
    part("again").hidden = phase !== "stopped";
    part("cancel").hidden = ENDED.has(phase);
    part("watch").hidden = !["playable", "done"].includes(phase);
    this.#trouble(transfer.trouble || (phase === "done" ? "" : this.doubt));
    this.#poster();
    this.#announce();
  }

  #trouble(text) {
    const place = this.part("trouble");
    place.hidden = !text;
    if (place.dataset.said === text) return;
    place.dataset.said = text ?? "";
    place.textContent = text ?? "";
    if (this.transfer.phase === "signin") place.append(" ", signInLink());
  }

  #announce() {
    const said = { uploading: words.uploading(0) }[this.transfer.phase] ? "" : stateWords(this.transfer).replace(/\s*\(.*\)/, "");
    if (said && said !== this.#said) this.announce(words.announce(this.part("name").textContent, said));
    this.#said = said;
  }

  #poster() {
    const { poster } = this.transfer.video?.playback ?? {};
    if (poster) this.#picture(poster, "server");
  }

  async #glimpse() {
    const picture = await glimpse(this.transfer.file);
    if (picture) this.#picture(picture, "file");
  }

  #picture(address, from) {
    const image = this.part("picture");
    if (image.dataset.from === "server" || image.dataset.from === from) return;
    Object.assign(image, { src: address, hidden: false });
    image.dataset.from = from;
  }
}

function stateWords({ phase, share, video }) {
  const progress = video?.progress ?? 0;
  const held = () => words.uploading(share);
  return {
    opening: () => words.opening, waiting: () => words.waiting, uploading: held, lost: held, busy: held, full: held, signin: held,
    paused: () => words.paused(share), checking: () => words.checking, queued: () => words.queued,
    processing: () => words.making(progress), playable: () => words.playable(progress), done: () => words.done,
    failed: () => words.failed, stopped: () => words.stopped, cancelled: () => words.cancelled,
  }[phase]();
}

function figures({ phase, sent, file, speed, secondsLeft }) {
  if (["done", "playable", "processing", "queued", "failed"].includes(phase)) return "";
  return words.figures(sent, file.size, speed, secondsLeft);
}

function signInLink() {
  return Object.assign(document.createElement("a"), { href: "/login", target: "_blank", rel: "noopener", textContent: words.signInLink });
}

/** A template's ids are one row's; each row's are its own. */
function uniqueIds(element, prefix) {
  for (const attribute of ["id", "for", "aria-describedby"]) {
    for (const node of element.querySelectorAll(`[${attribute}]`)) {
      const names = node.getAttribute(attribute).trim().split(/\s+/);
      node.setAttribute(attribute, names.map((name) => `${prefix}-${name}`).join(" "));
    }
  }
}
