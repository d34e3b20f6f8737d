// Under the screen: how far better qualities are, until they are here.
import { player as words } from "../words.js";

const TELLING = 8;

export function better() {
  const box = document.querySelector("[data-better]");
  const place = document.querySelector("[data-better-words]");
  const seen = [];
  return ({ state, progress }) => {
    box.hidden = state !== "playable";
    if (box.hidden) return;
    seen.push({ progress, at: performance.now() });
    place.textContent = words.better(progress, secondsLeft(seen.slice(-TELLING)));
  };
}

function secondsLeft(seen) {
  const [first, last] = [seen[0], seen.at(-1)];
  const gained = last.progress - first.progress;
  return gained > 0 ? ((100 - last.progress) / gained) * ((last.at - first.at) / 1000) : NaN;
}
