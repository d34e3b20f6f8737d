// What can be told of a file before a byte is sent.
import { upload as words } from "../words.js";

const KNOWN = /\.(3g2|3gp|asf|avi|f4v|flac|flv|m2t|m2ts|m4a|m4v|mkv|mov|mp3|mp4|mpe?g|mts|mxf|oga|ogg|ogv|opus|qt|rm|rmvb|ts|vob|wav|webm|wmv)$/i;

/** The sentence why this file cannot be uploaded, or "". */
export function refusal(file, most) {
  if (file.size === 0) return words.empty;
  return file.size > most ? words.tooLarge(most) : "";
}

/** Whether neither type nor name speak of a video: a hint, for the server looks inside. */
export const isDoubtful = (file) => !/^(video|audio)\//.test(file.type) && !KNOWN.test(file.name);
