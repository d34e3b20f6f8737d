// The watch page.
import { open as openDialog } from "./dialogs.js";
import { notes } from "./notes.js";
import { Screen } from "./player/screen.js";
import { theatre } from "./player/theatre.js";
import { player as words } from "./words.js";
import { better } from "./watch/better.js";
import { download } from "./watch/download.js";
import { fold } from "./watch/fold.js";
import { mediaSession } from "./watch/media_session.js";
import { share } from "./watch/share.js";

const element = document.querySelector("[data-screen]");
const toggle = theatre(element.querySelector("[data-theatre]"));
const screen = new Screen(element, {
  theatre: () => screen.said.briefly(toggle() ? words.theatreOn : words.theatreOff),
  help: () => openDialog("keys"),
});

fold();
share(screen.video);
mediaSession(element, document.querySelector(".channel-link strong").textContent);

const told = [better(), download(), notes(document)];
screen.open({ autoplay: cameFromHere(), onVideo: (video) => told.forEach((tell) => tell(video)) });

/** Somebody who chose this video on our own pages wants it to play; a link from elsewhere waits for a press. */
function cameFromHere() {
  const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  return !calm && document.referrer.startsWith(`${location.origin}/`)
    && performance.getEntriesByType("navigation")[0]?.type === "navigate";
}
