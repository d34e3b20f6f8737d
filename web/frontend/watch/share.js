// Sharing: the link, from the moment on view where that is wished.
import { clockTime } from "../words.js";

export function share(video) {
  const dialog = document.getElementById("share");
  const link = dialog.querySelector("[data-share-link]");
  const code = dialog.querySelector("[data-share-embed]");
  const at = dialog.querySelector("[data-share-at]");
  const time = dialog.querySelector("[data-share-time]");
  const { pageUrl, embedUrl } = dialog.dataset;
  const from = (address, second) => (second > 0 ? `${address}?t=${second}` : address);
  const show = () => {
    const second = at.checked ? Math.floor(video.currentTime) : 0;
    time.textContent = clockTime(video.currentTime);
    link.value = from(pageUrl, second);
    code.value = code.value.replace(/src="[^"]*"/, () => `src="${from(embedUrl, second)}"`);
  };
  document.querySelector("[data-open-dialog=share]").addEventListener("click", show);
  at.addEventListener("change", show);
}
