// "Older" loads the next page in place; without this script the same link goes there.
import { toast } from "../toast.js";
import { site } from "../words.js";
import { fullDates } from "./dates.js";

export function pagesInPlace() {
  const list = document.querySelector("[data-pages]");
  if (!list) return;
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[rel=next]");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    if (link.getAttribute("aria-disabled") !== "true") load(list, link);
  });
}

async function load(list, link) {
  const words = link.textContent;
  link.setAttribute("aria-disabled", "true");
  link.textContent = site.loading;
  try {
    append(list, link, await page(link.href));
  } catch {
    link.textContent = words;
    link.removeAttribute("aria-disabled");
    toast(site.pageFailed);
  }
}

async function page(address) {
  const answer = await fetch(address, { credentials: "same-origin" });
  if (!answer.ok) throw new Error(answer.statusText);
  return new DOMParser().parseFromString(await answer.text(), "text/html");
}

function append(list, link, next) {
  const found = [...(next.querySelector("[data-pages]")?.children ?? [])];
  fullDates(next);
  list.append(...found);
  const further = next.querySelector("a[rel=next]");
  if (further) link.replaceWith(further);
  else link.remove();
  found[0]?.querySelector(".card-title a")?.focus({ preventScroll: true });
}
