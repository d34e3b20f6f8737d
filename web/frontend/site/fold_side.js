// The side bar folds away at a press, and stays so.
import { setCookie } from "../storage.js";

export function foldSide() {
  const button = document.querySelector("[data-fold-side]");
  if (!button || !document.querySelector(".side-bar")) return;
  const root = document.documentElement;
  const show = () => button.setAttribute("aria-expanded", String(root.dataset.side !== "folded"));
  button.hidden = false;
  show();
  button.addEventListener("click", () => {
    if (root.dataset.side === "folded") delete root.dataset.side;
    else root.dataset.side = "folded";
    setCookie("side", root.dataset.side ?? null);
    show();
  });
}
