// One block on its way. XMLHttpRequest, because fetch does not tell how much was sent.
import { Trouble } from "../api.js";
import { site } from "../words.js";

const STALLED = 60_000;

/** Resolves when the server has the block. Throws Trouble; AbortError when `signal` fires. `onSent` hears the bytes sent so far. */
export function putBlock({ url, headers, bytes, md5, onSent, signal }) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    const abort = () => request.abort();
    request.open("PUT", url);
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
    request.setRequestHeader("Content-MD5", md5);
    const watch = stallWatch(abort);
    request.upload.onprogress = ({ loaded }) => {
      watch.moved();
      onSent(loaded);
    };
    request.onload = () => (request.status < 300 ? resolve() : reject(troubleOf(request)));
    request.onerror = () => reject(new Trouble(0, site.noAnswer));
    request.onabort = () => reject(signal.aborted ? new DOMException("stopped", "AbortError") : new Trouble(0, site.noAnswer));
    request.onloadend = () => {
      watch.end();
      signal.removeEventListener("abort", abort);
    };
    signal.addEventListener("abort", abort);
    if (signal.aborted) reject(new DOMException("stopped", "AbortError"));
    else request.send(bytes);
  });
}

/** A connection that moves nothing for a minute is as good as lost, whatever the system thinks of it. */
function stallWatch(giveUp) {
  let timer = setTimeout(giveUp, STALLED);
  return {
    moved() {
      clearTimeout(timer);
      timer = setTimeout(giveUp, STALLED);
    },
    end: () => clearTimeout(timer),
  };
}

function troubleOf(request) {
  let message = site.noAnswer;
  try {
    message = JSON.parse(request.responseText).error.message;
  } catch {
    // Not our server's words, perhaps a proxy's: the status says enough.
  }
  return new Trouble(request.status, message, Number(request.getResponseHeader("Retry-After")) || 0);
}
