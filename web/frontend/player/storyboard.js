// The small pictures over the scrub bar: a metadata track that media-chrome's time range reads.

export function storyboard(video, address) {
  if (!address || video.querySelector("track[label=thumbnails]")) return;
  const track = document.createElement("track");
  Object.assign(track, { kind: "metadata", label: "thumbnails", src: address, default: true });
  video.append(track);
  track.track.mode = "hidden";
}
