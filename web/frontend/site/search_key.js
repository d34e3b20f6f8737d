// "/" goes to the search field.
import { hasModifier, isTyping } from "../typing.js";

export function searchKey() {
  const field = document.querySelector("[data-search]");
  if (!field) return;
  document.addEventListener("keydown", (event) => {
    if (event.key !== "/" || hasModifier(event) || isTyping(event) || document.querySelector("dialog[open]")) return;
    event.preventDefault();
    field.focus();
    field.select();
  });
}
