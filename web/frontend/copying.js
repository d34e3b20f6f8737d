// Copying text, also where the clipboard may not be written to (plain http on another machine).
import { toast } from "./toast.js";
import { site } from "./words.js";

export async function copy(text, said = site.copied) {
  try {
    await navigator.clipboard.writeText(text);
    toast(said);
  } catch {
    toast(copyByHand(text) ? said : site.copyFailed);
  }
}

function copyByHand(text) {
  const field = document.createElement("textarea");
  field.value = text;
  field.className = "unseen";
  (document.querySelector("dialog[open]") ?? document.body).append(field);
  field.select();
  const done = document.execCommand("copy");
  field.remove();
  return done;
}

export function copyButtons(root = document) {
  for (const button of root.querySelectorAll("[data-copy]")) {
    button.hidden = false;
    button.addEventListener("click", () => copy(document.getElementById(button.dataset.copy).value));
  }
}
