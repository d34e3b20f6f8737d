// Follows a video until nothing more will happen to it: asks often at first, seldom when nobody looks.
import { call } from "./api.js";
import { backInSight, backOff, pause } from "./waiting.js";

const OVER = new Set(["published", "failed", "deleted"]);

/** Calls `onVideo` with each new picture of the video; ends by itself, or by `signal`. A video that is gone is "deleted". */
export async function follow(id, onVideo, { signal } = {}) {
  const began = performance.now();
  let last = "";
  for (let failures = 0; !signal?.aborted; ) {
    try {
      const video = await look(id, signal);
      failures = 0;
      const now = JSON.stringify(video);
      if (now !== last) onVideo(video);
      last = now;
      if (OVER.has(video.state)) return;
    } catch (error) {
      if (error.name === "AbortError") return;
      failures += 1;
    }
    const wait = failures ? backOff(failures, { first: 1, most: 15 }) : rhythm(began);
    await pause(wait, { signal, events: backInSight }).catch(() => {});
  }
}

async function look(id, signal) {
  try {
    return await call("GET", `/api/v1/videos/${id}`, { signal });
  } catch (error) {
    if (error.status === 404) return { id, state: "deleted", progress: 0, renditions: [], playback: {} };
    throw error;
  }
}

function rhythm(began) {
  if (document.visibilityState === "hidden") return 10;
  return performance.now() - began < 120_000 ? 1 : 3;
}
