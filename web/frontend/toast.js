// A sentence for a moment, spoken politely to those who listen.

let timer;

export function toast(words) {
  const place = document.querySelector("[data-toast]");
  if (!place) return;
  place.textContent = words;
  clearTimeout(timer);
  timer = setTimeout(() => (place.textContent = ""), 4000);
}
