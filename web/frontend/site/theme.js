// Light, dark, or as the system has it; the choice is a cookie, so that the server draws the next page right at once.
import { setCookie } from "../storage.js";

export function themeChoice() {
  const form = document.querySelector("[data-theme-choice]");
  if (!form) return;
  form.hidden = false;
  form.addEventListener("change", () => choose(form.elements.theme.value));
  form.addEventListener("submit", (event) => event.preventDefault());
}

function choose(theme) {
  const root = document.documentElement;
  if (theme === "system") delete root.dataset.theme;
  else root.dataset.theme = theme;
  setCookie("theme", theme === "system" ? null : theme);
}
