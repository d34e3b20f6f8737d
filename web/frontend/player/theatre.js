// Theatre mode: the screen takes the whole width and the room goes dark; remembered.
import { setCookie } from "../storage.js";

/** Returns what toggles it and tells whether it is on now. */
export function theatre(button) {
  const root = document.documentElement;
  const show = () => button?.setAttribute("aria-pressed", String(root.dataset.theatre === "on"));
  const toggle = () => {
    if (root.dataset.theatre === "on") delete root.dataset.theatre;
    else root.dataset.theatre = "on";
    setCookie("theatre", root.dataset.theatre ?? null);
    show();
    return root.dataset.theatre === "on";
  };
  show();
  button?.addEventListener("click", toggle);
  return toggle;
}
