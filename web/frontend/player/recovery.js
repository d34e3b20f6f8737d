// What goes wrong while playing heals by itself: a lost network is tried again, a confused decoder restarted.
import Hls from "hls.js";
import { backOff, backOnline, pause } from "../waiting.js";

const RESTARTS = 3;
const FORGIVEN_AFTER = 30_000;
const GONE = new Set([401, 403, 404, 410]);

export function recover(hls, { tell, giveUp }) {
  const network = new NetworkRecovery(hls, tell);
  const media = new MediaRecovery(hls, giveUp);
  hls.on(Hls.Events.ERROR, (_, error) => {
    if (!error.fatal) return;
    if (error.type === Hls.ErrorTypes.NETWORK_ERROR) network.again(error);
    else if (error.type === Hls.ErrorTypes.MEDIA_ERROR) media.again();
    else giveUp();
  });
  hls.on(Hls.Events.FRAG_LOADED, () => network.back());
  hls.on(Hls.Events.DESTROYING, () => network.over.abort());
}

class NetworkRecovery {
  over = new AbortController();
  #tries = 0;
  #waiting = false;

  constructor(hls, tell) {
    this.hls = hls;
    this.tell = tell;
  }

  async again(error) {
    if (this.#waiting) return;
    if (error.details === Hls.ErrorDetails.MANIFEST_LOAD_ERROR && GONE.has(error.response?.code)) return this.tell("gone");
    this.tell("lost");
    this.#waiting = true;
    try {
      await pause(backOff(this.#tries++, { first: 1, most: 15 }), { signal: this.over.signal, events: backOnline });
    } catch {
      return;
    }
    this.#waiting = false;
    if (this.hls.levels.length > 0) this.hls.startLoad(this.hls.media?.currentTime ?? -1);
    else this.hls.loadSource(this.hls.url);
  }

  back() {
    if (this.#tries > 0) this.tell("back");
    this.#tries = 0;
  }
}

class MediaRecovery {
  #tries = 0;
  #last = 0;

  constructor(hls, giveUp) {
    this.hls = hls;
    this.giveUp = giveUp;
  }

  again() {
    const now = performance.now();
    if (now - this.#last > FORGIVEN_AFTER) this.#tries = 0;
    this.#last = now;
    this.#tries += 1;
    if (this.#tries > RESTARTS) return this.giveUp();
    if (this.#tries > 1) this.hls.swapAudioCodec();
    this.hls.recoverMediaError();
  }
}
