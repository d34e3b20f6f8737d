// Every word a person reads that a script writes. Sentence case, short, no blame; numbers by the reader's language.

const language = document.documentElement.lang || "en";
const plain = new Intl.NumberFormat(language, { maximumFractionDigits: 0 });
const tenth = new Intl.NumberFormat(language, { maximumFractionDigits: 1, minimumFractionDigits: 1 });
const fullDate = new Intl.DateTimeFormat(language, { dateStyle: "full", timeStyle: "short" });
const clock = new Intl.DateTimeFormat(language, { dateStyle: "short", timeStyle: "medium" });

export const dates = { full: (date) => fullDate.format(date), clock: (date) => clock.format(date) };

/** What a program found, as a sentence of its own. */
export const sentence = (text) => (text ? text[0].toUpperCase() + text.slice(1) + (/[.!?]$/.test(text) ? "" : ".") : "");

export function size(bytes) {
  const units = ["B", "KB", "MB", "GB", "TB"];
  let value = bytes;
  let unit = 0;
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${unit > 0 && value < 100 ? tenth.format(value) : plain.format(value)} ${units[unit]}`;
}

export function timeLeft(seconds) {
  if (!Number.isFinite(seconds)) return "";
  if (seconds < 60) return `about ${Math.max(1, Math.round(seconds))} s left`;
  if (seconds < 3600) return `about ${Math.round(seconds / 60)} min left`;
  return `about ${tenth.format(seconds / 3600)} h left`;
}

export function clockTime(seconds) {
  const whole = Math.max(0, Math.floor(seconds || 0));
  const two = (number) => String(number).padStart(2, "0");
  const hours = Math.floor(whole / 3600);
  const minutes = Math.floor(whole / 60) % 60;
  return hours ? `${hours}:${two(minutes)}:${two(whole % 60)}` : `${minutes}:${two(whole % 60)}`;
}

export const site = {
  copied: "Copied",
  copyFailed: "Could not copy. Select the text and copy it by hand.",
  loading: "Loading …",
  pageFailed: "Could not load more. Check the connection and try again.",
  noAnswer: "The server did not answer. Check the connection and try again.",
};

export const player = {
  paused: "Paused",
  playing: "Playing",
  soundOff: "Sound off",
  soundOn: "Sound on",
  volume: (level) => `Volume ${Math.round(level * 100)} %`,
  speed: (rate) => `${rate} ×`,
  jump: (seconds) => `${seconds > 0 ? "+" : "−"}${Math.abs(seconds)} s`,
  noCaptions: "This video has no captions",
  theatreOn: "Theatre mode",
  theatreOff: "Theatre mode off",
  startedMuted: "Playing without sound. Press m for sound.",
  lost: "Connection lost, will go on by itself",
  gone: "This video is not here any more",
  goneText: "It was deleted, or you may no longer watch it.",
  broken: "This browser could not play the video",
  brokenText: "Nothing is wrong with your account or your connection. Try again, or use another browser.",
  again: "Try again",
  uploading: "This video is still being uploaded",
  queued: "This video waits for its turn",
  processing: (done) => (done > 0 ? `This video is being made watchable (${done} %)` : "This video is being checked"),
  startsItself: "It starts here by itself as soon as it can be watched.",
  failed: "This video could not be made watchable",
  better: (done, seconds) =>
    seconds > 0 && Number.isFinite(seconds)
      ? `Better quality is on its way (${done} %, ${timeLeft(seconds)})`
      : `Better quality is on its way (${done} %)`,
  betterHere: (label) => `Now in ${label}`,
  showMore: "Show more",
  showLess: "Show less",
};

export const states = {
  uploading: () => "Uploading",
  queued: () => "Waiting its turn",
  processing: (done) => `Making it watchable (${done} %)`,
  playable: (done) => `Watchable, better quality on its way (${done} %)`,
  published: () => "Done",
  failed: () => "Could not be made watchable",
  deleted: () => "Deleted",
};

export const upload = {
  waiting: "Waiting",
  opening: "Getting ready",
  uploading: (share) => `Uploading ${Math.floor(share * 100)} %`,
  paused: (share) => `Paused at ${Math.floor(share * 100)} %`,
  checking: "Checking",
  queued: "Checking: waiting its turn",
  making: (done) => (done > 0 ? `Making it watchable (${done} %)` : "Checking"),
  playable: (done) => `Watchable now, better quality on its way (${done} %)`,
  done: "Done",
  failed: "Could not be made watchable",
  stopped: "Stopped",
  cancelled: "Cancelled",
  figures: (sent, total, speed, seconds) =>
    [`${size(sent)} of ${size(total)}`, speed > 0 ? `${size(speed)}/s` : "", speed > 0 ? timeLeft(seconds) : ""].filter(Boolean).join(" · "),
  lost: "Connection lost, will go on by itself. What was sent is safe.",
  busy: "The server is busy, will go on by itself. What was sent is safe.",
  full: "The server's disk is full. What was sent is safe, and it goes on by itself when there is room.",
  signIn: "You are signed out. Sign in again in another tab; it goes on by itself.",
  signInLink: "Sign in",
  changed: "The file changed or can no longer be read. Choose it again to start anew.",
  gone: "This upload is no longer on the server. Start it again; nothing else was touched.",
  notYours: "You may no longer upload to this video.",
  damaged: "A piece of the file keeps arriving damaged. Try again; what was sent is safe.",
  empty: "This file is empty, so there is nothing to upload. Choose another one.",
  tooLarge: (most) => `This file is too large. At most ${size(most)} can be uploaded.`,
  doubtful: "This does not look like a video. It is uploaded anyway, and the server looks inside.",
  goingOn: "Going on where it stopped",
  linkCopied: "Link copied",
  saving: "Saving …",
  saved: "Saved",
  notSaved: "Not saved yet, will try again",
  unfinished: (share, total) => `${Math.floor(share * 100)} % of ${size(total)} sent`,
  otherFile: (name, bytes) => `That is another file. Choose “${name}” (${size(bytes)}), or drop it above to upload it anew.`,
  announce: (name, state) => `${name}: ${state}`,
  discardFailed: "Could not discard it. Try again.",
};
