// The qualities of an HLS stream as the rendition list that media-chrome's menu shows and changes.
import Hls from "hls.js";

export function listQualities(hls, video) {
  const levels = new Map();
  hls.on(Hls.Events.MANIFEST_PARSED, () => {
    for (const track of [...video.videoTracks]) video.removeVideoTrack(track);
    const track = video.addVideoTrack("main");
    track.selected = true;
    for (const [number, level] of hls.levels.entries()) {
      const quality = track.addRendition(level.url[0], level.width, level.height, level.videoCodec, level.bitrate);
      quality.id = String(number);
      levels.set(quality.id, number);
    }
  });
  const change = () => {
    const chosen = video.videoRenditions[video.videoRenditions.selectedIndex];
    const level = chosen ? (levels.get(chosen.id) ?? -1) : -1;
    if (level !== (hls.autoLevelEnabled ? -1 : hls.nextLevel)) hls.nextLevel = level;
  };
  video.videoRenditions.addEventListener("change", change);
  hls.on(Hls.Events.DESTROYING, () => video.videoRenditions.removeEventListener("change", change));
}

/** The height somebody chose by hand, or null for Auto. */
export function chosenHeight(video) {
  return video.videoRenditions[video.videoRenditions.selectedIndex]?.height ?? null;
}

/** Choose by hand again, once the list is there, what was chosen before. */
export function chooseHeight(video, height) {
  if (height === null) return;
  const index = [...video.videoRenditions].findIndex((quality) => quality.height === height);
  if (index >= 0) video.videoRenditions.selectedIndex = index;
}
