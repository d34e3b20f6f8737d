// What the screen says while there is no picture: how far the video is, or why there will be none.
import { player as words, sentence } from "../words.js";

export class Note {
  constructor(screen) {
    const part = (name) => screen.querySelector(`[data-note${name}]`);
    this.box = part("");
    this.title = part("-title");
    this.text = part("-text");
    this.progress = part("-progress");
    this.actions = part("-actions");
  }

  /** Says the state of a video that cannot be watched yet, or never. */
  state({ state, progress, reason }) {
    if (state === "failed") return this.say(words.failed, sentence(reason));
    if (state === "deleted") return this.say(words.gone, words.goneText);
    const title = { uploading: words.uploading, queued: words.queued }[state] ?? words.processing(progress);
    this.say(title, words.startsItself, state === "processing" ? progress : null);
  }

  say(title, text, progress = null) {
    this.box.hidden = false;
    // Only what changed is written, so that a listener is not told the same again.
    if (this.title.textContent.trim() !== title) this.title.textContent = title;
    this.text.textContent = text;
    this.progress.hidden = progress === null;
    this.progress.value = progress ?? 0;
  }

  /** A failure of the player itself, with a button to try again. */
  trouble(title, text, again) {
    this.say(title, text);
    const button = document.createElement("button");
    Object.assign(button, { type: "button", className: "button", textContent: words.again });
    button.addEventListener("click", again);
    this.actions.replaceChildren(button);
  }

  hide() {
    this.box.hidden = true;
    this.actions.replaceChildren();
  }
}
