// Slices with their checksum, made by one worker for the whole page.
import { Trouble } from "../api.js";
import { site } from "../words.js";

export class Unreadable extends Error {}

let worker;
let next = 0;
const asked = new Map();

/** The bytes of a slice and their MD5 in base64. Raises Unreadable for a file that changed or went away, Trouble where
 * the worker's own script could not be fetched. */
export function checksum(slice) {
  worker ??= start();
  const ticket = next++;
  return new Promise((resolve, reject) => {
    asked.set(ticket, { resolve, reject });
    worker.postMessage({ ticket, slice });
  });
}

function start() {
  const made = new Worker(new URL("./md5_worker.js", import.meta.url), { type: "module" });
  made.onmessage = ({ data: { ticket, failed, bytes, md5 } }) => {
    const { resolve, reject } = asked.get(ticket);
    asked.delete(ticket);
    if (failed) reject(new Unreadable(failed));
    else resolve({ bytes, md5 });
  };
  made.onerror = () => {
    worker = undefined;
    for (const { reject } of asked.values()) reject(new Trouble(0, site.noAnswer));
    asked.clear();
  };
  return made;
}
