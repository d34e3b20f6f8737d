// Which file belongs to which unfinished upload, across reloads and crashes.
import { recall, remember } from "../storage.js";

const KEY = "uploads";
const MOST = 100;

const print = (file) => ({ name: file.name, size: file.size, modified: file.lastModified });

export function rememberUpload(id, file) {
  const all = { ...recall(KEY, {}), [id]: print(file) };
  remember(KEY, Object.fromEntries(Object.entries(all).slice(-MOST)));
}

export function forgetUpload(id) {
  const { [id]: _, ...rest } = recall(KEY, {});
  remember(KEY, rest);
}

/** Of the server's unfinished uploads the one this file belongs to. One this browser knows nothing of (begun elsewhere,
 * or forgotten in a crash) is told by name and exact size. */
export function uploadOf(file, unfinished) {
  const known = recall(KEY, {});
  return unfinished.find(({ video_id: id, filename, size }) => {
    if (filename !== file.name.normalize("NFC") || size !== file.size) return false;
    return !known[id] || known[id].modified === file.lastModified;
  });
}
