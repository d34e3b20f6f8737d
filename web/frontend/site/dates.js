// Moments in full in the reader's language, for whoever asks a relative one ("3 days ago") to be exact.
import { dates } from "../words.js";

export function fullDates(root = document) {
  for (const moment of root.querySelectorAll("time[datetime]")) {
    const date = new Date(moment.dateTime);
    if (Number.isNaN(date.valueOf())) continue;
    moment.title = dates.full(date);
    if ("clock" in moment.dataset) moment.textContent = dates.clock(date);
  }
}
