// Reads one slice of a file and checks it off: its bytes and their MD5 in base64, away from the page's own thread.
import { createMD5 } from "hash-wasm/dist/md5.umd.min.js";

const ready = createMD5();

self.onmessage = async ({ data: { ticket, slice } }) => {
  try {
    const bytes = await slice.arrayBuffer();
    const hasher = await ready;
    const digest = hasher.init().update(new Uint8Array(bytes)).digest("binary");
    self.postMessage({ ticket, bytes, md5: btoa(String.fromCharCode(...digest)) }, [bytes]);
  } catch (error) {
    self.postMessage({ ticket, failed: error.name });
  }
};
