// The keyboard, as on the sites people know; anywhere on the page but where somebody writes or works a control.
import { hasModifier, isTyping } from "../typing.js";
import { player as words } from "../words.js";

const FRAME = 1 / 25;
const RATES = [0.25, 0.5, 0.75, 1, 1.25, 1.5, 1.75, 2];
const OWN_KEYS = { range: /^(Arrow|Home|End|Page)/, press: /^( |Enter)$/, menu: /^(Arrow|Home|End| |Enter)/ };

export function keys({ screen, controller, video, said, theatre, help }) {
  const ask = (request, detail) => controller.dispatchEvent(new CustomEvent(request, { composed: true, bubbles: true, detail }));
  const actions = {
    " ": toggle, k: toggle,
    j: () => jump(-10), l: () => jump(10), ArrowLeft: () => jump(-5), ArrowRight: () => jump(5),
    ",": () => step(-FRAME), ".": () => step(FRAME),
    ArrowUp: () => louder(0.05), ArrowDown: () => louder(-0.05),
    m: mute, c: captions, f: fullScreen, i: pictureInPicture, t: theatre, "?": help,
    "<": () => faster(-1), ">": () => faster(1),
  };

  document.addEventListener("keydown", (event) => {
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    const action = /^[0-9]$/.test(key) ? () => tenth(Number(key)) : actions[key];
    if (!action || isElsewhere(event) || controller.hidden) return;
    if (/^Arrow(Up|Down)$/.test(key) && !isOnScreen(screen, event)) return;
    event.preventDefault();
    action();
  });

  function toggle() {
    said.briefly(video.paused ? words.playing : words.paused);
    ask(video.paused ? "mediaplayrequest" : "mediapauserequest");
  }
  function jump(seconds) {
    video.currentTime = Math.min(Math.max(0, video.currentTime + seconds), video.duration || 0);
    said.briefly(words.jump(seconds));
  }
  function step(seconds) {
    if (video.paused) video.currentTime = Math.max(0, video.currentTime + seconds);
  }
  function tenth(number) {
    if (video.duration) video.currentTime = (video.duration * number) / 10;
  }
  function louder(by) {
    const level = Math.min(1, Math.max(0, Math.round((video.volume + by) * 100) / 100));
    ask("mediavolumerequest", level);
    said.briefly(words.volume(level));
  }
  function mute() {
    said.briefly(video.muted ? words.soundOn : words.soundOff);
    ask(video.muted ? "mediaunmuterequest" : "mediamuterequest");
  }
  function captions() {
    const any = [...video.textTracks].some((track) => ["captions", "subtitles"].includes(track.kind));
    if (any) ask("mediatogglesubtitlesrequest");
    else said.briefly(words.noCaptions);
  }
  function fullScreen() {
    ask(document.fullscreenElement ? "mediaexitfullscreenrequest" : "mediaenterfullscreenrequest");
  }
  function pictureInPicture() {
    ask(document.pictureInPictureElement ? "mediaexitpiprequest" : "mediaenterpiprequest");
  }
  function faster(way) {
    const now = RATES.findIndex((rate) => rate >= video.playbackRate);
    const rate = RATES[Math.min(RATES.length - 1, Math.max(0, now + way))];
    ask("mediaplaybackraterequest", rate);
    said.briefly(words.speed(rate));
  }
}

function isOnScreen(screen, event) {
  return screen.contains(event.target) || document.fullscreenElement !== null;
}

function isElsewhere(event) {
  if (hasModifier(event) || event.defaultPrevented || isTyping(event) || document.querySelector("dialog[open]")) return true;
  const path = event.composedPath().filter((node) => node instanceof HTMLElement);
  if (path.some((node) => node.localName.endsWith("-menu"))) return OWN_KEYS.menu.test(event.key);
  if (path.some((node) => node.localName.endsWith("-range"))) return OWN_KEYS.range.test(event.key);
  return path.some((node) => node.matches("a, button, summary, label, [role=button], media-chrome-button")) && OWN_KEYS.press.test(event.key)
    || path.some((node) => /^media-.*-button$/.test(node.localName)) && OWN_KEYS.press.test(event.key);
}
