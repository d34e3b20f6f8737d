// Where a video was left, so that it goes on there; an address with ?t=90 (or 1m30s) wins.
import { recall, remember } from "../storage.js";

const KEPT = 200;
const TOO_EARLY = 10;
const TOO_LATE = 15;
const SHARE = 0.05;
const EVERY = 5000;

export function startPosition(id, address = location) {
  const asked = new URLSearchParams(address.search).get("t");
  if (asked) return seconds(asked);
  return recall("positions", {})[id]?.t ?? 0;
}

export function keepPosition(id, video) {
  let last = 0;
  const keep = () => {
    if (!Number.isFinite(video.duration) || video.played.length === 0) return;
    last = Date.now();
    write(id, worthKeeping(video) ? Math.floor(video.currentTime) : null);
  };
  video.addEventListener("timeupdate", () => Date.now() - last > EVERY && keep());
  for (const moment of ["pause", "ended"]) video.addEventListener(moment, keep);
  window.addEventListener("pagehide", keep);
}

/** Neither just begun nor as good as over; of a short video a twentieth is enough. */
function worthKeeping({ ended, currentTime, duration }) {
  const short = duration * SHARE;
  return !ended && currentTime > Math.min(TOO_EARLY, short) && currentTime < duration - Math.min(TOO_LATE, short);
}

function write(id, t) {
  const positions = recall("positions", {});
  delete positions[id];
  if (t !== null) positions[id] = { t };
  remember("positions", Object.fromEntries(Object.entries(positions).slice(-KEPT)));
}

function seconds(text) {
  const parts = /^(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s?)?$/.exec(text.trim());
  if (!parts) return 0;
  const [hours, minutes, rest] = parts.slice(1).map((part) => Number(part ?? 0));
  return hours * 3600 + minutes * 60 + rest;
}
