// What the system shows of the video on its own media controls and lock screen.

export function mediaSession(screen, channel) {
  if (!("mediaSession" in navigator)) return;
  const { title, poster } = screen.dataset;
  navigator.mediaSession.metadata = new MediaMetadata({ title, artist: channel, artwork: poster ? [{ src: poster }] : [] });
}
