// The studio: rows follow their videos; deleting asks once; words nobody saved are not lost by a slip.
import { follow } from "./follow.js";
import { notes } from "./notes.js";
import { states } from "./words.js";

const OVER = new Set(["published", "failed", "deleted", "uploading"]);

for (const row of document.querySelectorAll("[data-video][data-state]")) {
  if (!OVER.has(row.dataset.state)) followRow(row);
}
for (const form of document.querySelectorAll("form[data-sure]")) askOnce(form);
for (const form of document.querySelectorAll("form[data-guard]")) guard(form);

function followRow(row) {
  const place = row.querySelector("[data-state-words]");
  const tell = notes(row);
  follow(row.dataset.video, (video) => {
    const { state, progress } = video;
    tell(video);
    row.dataset.state = state;
    place.className = `state ${state}`;
    const words = states[state](progress);
    if (place.textContent !== words) place.textContent = words;
  });
}

function askOnce(form) {
  const dialog = document.getElementById("sure");
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    dialog.showModal();
  });
  dialog.querySelector("[data-sure-yes]").addEventListener("click", () => form.submit());
}

function guard(form) {
  const before = new URLSearchParams(new FormData(form)).toString();
  let leaving = false;
  form.addEventListener("submit", () => (leaving = true));
  window.addEventListener("beforeunload", (event) => {
    if (!leaving && new URLSearchParams(new FormData(form)).toString() !== before) event.preventDefault();
  });
}
