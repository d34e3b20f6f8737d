// A first picture straight from the file, where the browser can read it: the server's own follows.

const PATIENCE = 8000;

/** An address of a picture, or null where the browser cannot read the file. Reads only what it needs. */
export async function glimpse(file) {
  const video = document.createElement("video");
  const address = URL.createObjectURL(file);
  Object.assign(video, { muted: true, preload: "auto", playsInline: true });
  try {
    video.src = address;
    await happens(video, "loadeddata");
    video.currentTime = Math.min(video.duration * 0.1 || 0, 30);
    await happens(video, "seeked");
    return draw(video);
  } catch {
    return null;
  } finally {
    video.removeAttribute("src");
    video.load();
    URL.revokeObjectURL(address);
  }
}

function happens(video, event) {
  return new Promise((resolve, reject) => {
    video.addEventListener(event, resolve, { once: true });
    video.addEventListener("error", reject, { once: true });
    setTimeout(reject, PATIENCE);
  });
}

function draw(video) {
  if (!video.videoWidth) return null;
  const canvas = document.createElement("canvas");
  canvas.width = 480;
  canvas.height = Math.round((480 * video.videoHeight) / video.videoWidth);
  canvas.getContext("2d").drawImage(video, 0, 0, canvas.width, canvas.height);
  return canvas.toDataURL("image/jpeg", 0.8);
}
