// What an owner should know of a video, said as it becomes known.
import { sentence } from "./words.js";

/** Fills the box inside `place`, if there is one: it is there for those alone who may read it. */
export function notes(place) {
  const box = place.querySelector("[data-notes]");
  const list = box?.querySelector("ul");
  return ({ notes: found = [] }) => {
    if (!box) return;
    const sentences = found.map(sentence);
    const said = [...list.children].map((item) => item.textContent);
    box.hidden = sentences.length === 0;
    if (sentences.join("\n") !== said.join("\n")) list.replaceChildren(...sentences.map(item));
  };
}

function item(text) {
  const line = document.createElement("li");
  line.textContent = text;
  return line;
}
