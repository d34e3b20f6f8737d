// A long description folds to its first lines.
import { player as words } from "../words.js";

export function fold() {
  const box = document.querySelector("[data-fold]");
  const button = box?.querySelector(".fold-button");
  if (!button) return;
  const text = box.querySelector(".about-text");
  box.classList.add("folded");
  if (text.scrollHeight <= text.clientHeight + 4) return box.classList.remove("folded");
  button.hidden = false;
  button.addEventListener("click", () => {
    const open = !box.classList.toggle("folded");
    button.setAttribute("aria-expanded", String(open));
    button.textContent = open ? words.showLess : words.showMore;
  });
}
