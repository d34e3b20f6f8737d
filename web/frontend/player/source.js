// Where the picture comes from: hls.js where it can, the browser's own HLS on Apple's, else the one plain file.
import Hls from "hls.js";
import { listQualities } from "./qualities.js";
import { recover } from "./recovery.js";

const HLS_TYPE = "application/vnd.apple.mpegurl";
const AHEAD = { maxBufferLength: 30, maxBufferSize: 60_000_000 };
const AHEAD_BEFORE_PLAY = { maxBufferLength: 4, maxBufferSize: 1 };

const config = {
  capLevelToPlayerSize: true,
  abrEwmaDefaultEstimate: 3_000_000,
  backBufferLength: 60,
  maxMaxBufferLength: 120,
  ...AHEAD_BEFORE_PLAY,
};

export class Source {
  #video;
  #tell;
  #hls = null;

  /** `tell` hears what is wrong: "lost", "back", "gone" or "broken". */
  constructor(video, tell) {
    this.#video = video;
    this.#tell = tell;
    video.addEventListener("play", () => this.#loadAhead());
  }

  /** How many qualities there are to choose from; 0 where the browser does not say. */
  get qualities() {
    return this.#hls?.levels.length ?? 0;
  }

  /** Play `hls` (or `mp4` where that is all there is) from `at` seconds. */
  load({ hls, mp4 }, at = 0) {
    this.stop();
    if (hls && !prefersOwnHls(this.#video) && Hls.isSupported()) this.#loadHls(hls, mp4, at);
    else this.#loadFile(hls && this.#video.canPlayType(HLS_TYPE) ? hls : mp4, at);
  }

  stop() {
    this.#hls?.destroy();
    this.#hls = null;
  }

  #loadHls(address, mp4, at) {
    const hls = new Hls({ ...config, startPosition: at > 0 ? at : -1 });
    this.#hls = hls;
    recover(hls, { tell: this.#tell, giveUp: () => this.#giveUp(mp4) });
    listQualities(hls, this.#video);
    this.#video.removeAttribute("src");
    hls.loadSource(address);
    hls.attachMedia(this.#video);
    if (!this.#video.paused) this.#loadAhead();
  }

  #loadFile(address, at) {
    if (!address) return;
    const video = this.#video;
    video.preload = "metadata";
    if (video.getAttribute("src") !== address) video.src = address;
    if (at > 0) video.addEventListener("loadedmetadata", () => (video.currentTime = at), { once: true });
    video.addEventListener("error", () => this.#tell("broken"), { once: true });
  }

  #giveUp(mp4) {
    const at = this.#video.currentTime;
    this.stop();
    if (mp4) this.#loadFile(mp4, at);
    else this.#tell("broken");
  }

  #loadAhead() {
    if (this.#hls) Object.assign(this.#hls.config, AHEAD);
  }
}

function prefersOwnHls(video) {
  return /apple/i.test(navigator.vendor) && video.canPlayType(HLS_TYPE) !== "";
}
