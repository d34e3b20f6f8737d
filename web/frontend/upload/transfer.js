// One file on its way: opened, cut into blocks that go up side by side, committed, then followed until it can be watched.
import { call } from "../api.js";
import { follow } from "../follow.js";
import { sentence, upload as words } from "../words.js";
import { blocksOf, missing } from "./blocks.js";
import { checksum, Unreadable } from "./checksum.js";
import { forgetUpload, rememberUpload } from "./memory.js";
import { Meter } from "./meter.js";
import { Hopeless, patiently } from "./patience.js";
import { putBlock } from "./put.js";
import { Slots } from "./slots.js";

const files = new Slots(2);
const wire = new Slots(4);
const READ_AHEAD = 4;
const FLOWING = new Set(["waiting", "opening", "uploading", "lost", "busy", "full", "signin", "checking"]);

/** Dispatches "change" whenever anything a person sees has changed, and "opened" once it has a video. */
export class Transfer extends EventTarget {
  phase = "opening";
  trouble = "";
  video = null;
  id = null;
  url = null;
  #sending = new Map();
  #sent = 0;
  #flown = 0;
  #meter = new Meter();
  #key = crypto.randomUUID?.() ?? `${Date.now()}-${Math.random()}`;
  #stop = new AbortController();
  #following = new AbortController();

  constructor(file, begun = null) {
    super();
    this.file = file;
    if (begun) this.#opened(begun);
  }

  get sent() {
    return Math.min(this.file.size, this.#sent + [...this.#sending.values()].reduce((sum, bytes) => sum + bytes, 0));
  }

  get share() {
    return this.file.size > 0 ? this.sent / this.file.size : 0;
  }

  get speed() {
    return this.phase === "uploading" ? this.#meter.speed : 0;
  }

  get secondsLeft() {
    return (this.file.size - this.sent) / this.speed;
  }

  /** Whether leaving the page now would interrupt it. */
  get isFlowing() {
    return FLOWING.has(this.phase);
  }

  async run() {
    const { signal } = (this.#stop = new AbortController());
    try {
      if (!this.id) await this.#open(signal);
      this.#set("waiting");
      await files.run(() => this.#send(signal), signal);
      await this.#watch();
    } catch (error) {
      this.#end(error);
    }
  }

  pause() {
    this.#halt("paused");
  }

  async cancel() {
    this.#halt("cancelled");
    this.#following.abort();
    if (this.id) {
      forgetUpload(this.id);
      await call("DELETE", `/api/v1/uploads/${this.id}`).catch(() => {});
    }
  }

  #halt(phase) {
    this.#stop.abort();
    this.#sending.clear();
    this.#meter.forget();
    this.#set(phase);
  }

  async #open(signal) {
    this.#set("opening");
    const body = { filename: this.file.name, size: this.file.size, content_type: this.file.type || "application/octet-stream" };
    this.#opened(await this.#patiently(
      () => call("POST", "/api/v1/uploads", { body, headers: { "Idempotency-Key": this.#key }, signal }), signal, isRefusal,
    ));
  }

  #opened(upload) {
    this.upload = upload;
    this.id = upload.video_id;
    this.url = upload.url ?? `${location.origin}/watch/${upload.video_id}`;
    rememberUpload(this.id, this.file);
    this.dispatchEvent(new Event("opened"));
  }

  async #send(signal) {
    const lock = navigator.locks ? (work) => navigator.locks.request(`upload:${this.id}`, { signal }, work) : (work) => work();
    await lock(() => this.#sendAll(signal));
  }

  /** Sends what the server lacks and commits; where a commit finds blocks missing after all, once more. */
  async #sendAll(signal) {
    const blocks = blocksOf(this.file.size, this.upload.block_size);
    for (let rounds = 0; rounds < 3; rounds += 1) {
      const here = await this.#patiently(() => call("GET", `/api/v1/uploads/${this.id}`, { signal }), signal);
      if (here.state !== "uploading") return;
      this.upload = here;
      await this.#sendBlocks(blocks, missing(blocks, here.blocks), signal);
      this.#set("checking");
      if (await this.#commit(blocks, signal)) return;
    }
    throw new Hopeless(words.damaged);
  }

  async #sendBlocks(blocks, wanted, signal) {
    this.#sent = this.file.size - wanted.reduce((sum, block) => sum + block.size, 0);
    this.#set("uploading");
    const queue = [...wanted];
    const over = new AbortController();
    const either = AbortSignal.any([signal, over.signal]);
    const lane = async () => {
      for (let block = queue.shift(); block; block = queue.shift()) await this.#sendBlock(block, either);
    };
    try {
      await Promise.all(Array.from({ length: READ_AHEAD }, lane));
    } finally {
      over.abort();
    }
  }

  async #sendBlock(block, signal) {
    await wire.run(async () => {
      const slice = this.file.slice(block.start, block.start + block.size);
      const { bytes, md5 } = await this.#patiently(() => checksum(slice), signal);
      await this.#patiently(() => this.#put(block, bytes, md5, signal), signal);
    }, signal);
    this.#sending.delete(block.id);
    this.#sent += block.size;
    this.#moved();
  }

  async #put(block, bytes, md5, signal, { renewed = false } = {}) {
    const onSent = (sent) => {
      this.#flown += Math.max(0, sent - (this.#sending.get(block.id) ?? 0));
      this.#sending.set(block.id, sent);
      this.#moved();
    };
    const { block_url: address, block_headers: headers } = this.upload;
    const url = address.replace("{block_id}", encodeURIComponent(block.id));
    try {
      await putBlock({ url, headers, bytes, md5, onSent, signal });
    } catch (error) {
      this.#sending.delete(block.id);
      if (error.status !== 403 || renewed || isOurs(url)) throw error;
      await this.#renew(address, signal);
      await this.#put(block, bytes, md5, signal, { renewed: true });
    }
  }

  /** The store's address is signed for a time, and that ran out; another lane may have asked for the next one already. */
  async #renew(used, signal) {
    if (this.upload.block_url === used) this.upload = await call("GET", `/api/v1/uploads/${this.id}`, { signal });
  }

  /** False where the server says that blocks are missing. */
  async #commit(blocks, signal) {
    try {
      const body = { blocks: blocks.map(({ id }) => id) };
      this.video = await this.#patiently(() => call("POST", `/api/v1/uploads/${this.id}/commit`, { body, signal }), signal,
        ({ status }) => status === 400);
    } catch (error) {
      if (error.status === 400) return false;
      throw error;
    }
    return true;
  }

  async #watch() {
    forgetUpload(this.id);
    await follow(this.id, (video) => {
      this.video = video;
      this.trouble = video.state === "failed" ? sentence(video.reason) : "";
      this.#set({ published: "done", deleted: "cancelled", uploading: "checking" }[video.state] ?? video.state);
    }, { signal: this.#following.signal });
  }

  #patiently(step, signal, pass) {
    const tell = (held) => {
      this.trouble = held?.words ?? "";
      this.#meter.forget();
      this.#set(held?.phase ?? "uploading");
    };
    return patiently(step, { tell, signal, pass });
  }

  #end(error) {
    if (error.name === "AbortError") return;
    this.#stop.abort();
    this.#sending.clear();
    const known = error instanceof Hopeless || error.name === "Trouble";
    this.trouble = error instanceof Unreadable ? words.changed : known ? error.message : words.lost;
    this.#set("stopped");
    if (!known && !(error instanceof Unreadable)) throw error;
  }

  #moved() {
    this.#meter.mark(this.#flown);
    if (this.phase !== "uploading" && this.isFlowing && this.phase !== "checking") {
      this.trouble = "";
      this.phase = "uploading";
    }
    this.dispatchEvent(new Event("change"));
  }

  #set(phase) {
    this.phase = phase;
    this.dispatchEvent(new Event("change"));
  }
}

const isOurs = (url) => new URL(url, location.href).origin === location.origin;

/** Refused for what it is (too large, no right to): trying again would be refused again. */
const isRefusal = ({ status }) => [400, 403, 404, 413, 415].includes(status);
