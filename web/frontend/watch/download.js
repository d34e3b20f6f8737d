// The download appears as soon as there is a file to download.

export function download() {
  const link = document.querySelector("[data-download]");
  return ({ playback }) => {
    if (!playback?.mp4) return;
    link.href = `${playback.mp4}?download`;
    link.hidden = false;
  };
}
