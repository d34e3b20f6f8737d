// The screen of one video: waits until there is something to watch, plays it, and takes up what gets better.
import "./controls.js";
import { follow } from "../follow.js";
import { player as words } from "../words.js";
import { keys } from "./keys.js";
import { Note } from "./note.js";
import { keepPosition, startPosition } from "./position.js";
import { Said } from "./said.js";
import { Source } from "./source.js";
import { storyboard } from "./storyboard.js";
import { countQualities, upgrade } from "./upgrade.js";

const WATCHABLE = new Set(["playable", "published"]);

export class Screen {
  #started = false;
  #playback = {};

  constructor(element, { theatre, help }) {
    this.element = element;
    this.id = element.dataset.video;
    this.controller = element.querySelector("[data-player]");
    this.video = element.querySelector("video");
    this.note = new Note(element);
    this.said = new Said(element.querySelector("[data-said]"));
    this.source = new Source(this.video, (what) => this.#hear(what));
    this.video.controls = false;
    // It says whether it is on (aria-checked), which only a switch may.
    element.querySelector("media-captions-button").setAttribute("role", "switch");
    element.querySelector("[data-big-play]").addEventListener("click", () => this.#play());
    keys({ screen: element, controller: this.controller, video: this.video, said: this.said, theatre, help });
  }

  /** Shows what the page came with, then follows the video until nothing more will happen to it; `onVideo` hears too. */
  open({ autoplay = false, onVideo = () => {} } = {}) {
    const { state, hls, mp4, poster, storyboard: pictures } = this.element.dataset;
    const now = { state, playback: { hls, mp4, poster, storyboard: pictures } };
    if (WATCHABLE.has(state)) this.#start(now.playback, autoplay);
    if (state === "published" || state === "failed") return;
    follow(this.id, (video) => {
      this.#see(video);
      onVideo(video);
    });
  }

  #see(video) {
    if (!WATCHABLE.has(video.state)) return this.#started ? undefined : this.note.state(video);
    if (!this.#started) this.#start(video.playback, true);
    else this.#better(video);
    this.#pictures(video.playback);
  }

  #start(playback, autoplay) {
    this.#started = true;
    this.#playback = playback;
    this.note.hide();
    this.controller.hidden = false;
    this.#pictures(playback);
    this.element.querySelector("[data-quality]").hidden = false;
    this.source.load(playback, startPosition(this.id));
    keepPosition(this.id, this.video);
    if (autoplay) this.#playByItself();
  }

  async #better({ playback, state }) {
    this.#playback = playback;
    if (!playback.hls || this.source.qualities === 0) return;
    const offered = await countQualities(playback.hls);
    if (offered <= this.source.qualities) return;
    upgrade(this.source, this.video, playback);
    if (state === "published") this.element.dispatchEvent(new CustomEvent("better"));
  }

  #pictures({ poster, storyboard: pictures }) {
    if (poster && !this.video.poster) this.video.poster = poster;
    storyboard(this.video, pictures);
  }

  #play() {
    this.video.play().catch(() => {});
    this.controller.querySelector("media-play-button").focus({ preventScroll: true });
  }

  /** Browsers may refuse sound nobody asked for: then without, and says so. */
  async #playByItself() {
    try {
      await this.video.play();
    } catch (error) {
      if (error.name !== "NotAllowedError") return;
      this.video.muted = true;
      await this.video.play().then(() => this.#saidMuted(), () => (this.video.muted = false));
    }
  }

  #saidMuted() {
    this.said.lasting(words.startedMuted);
    const hush = () => this.said.hush();
    this.video.addEventListener("volumechange", hush, { once: true });
    setTimeout(hush, 6000);
  }

  #hear(what) {
    if (what === "lost") return this.said.lasting(words.lost);
    if (what === "back") return this.said.hush();
    this.said.hush();
    this.controller.hidden = true;
    const again = () => {
      this.note.hide();
      this.controller.hidden = false;
      this.source.load(this.#playback, this.video.currentTime);
    };
    if (what === "gone") this.note.trouble(words.gone, words.goneText, again);
    else this.note.trouble(words.broken, words.brokenText, again);
  }
}
