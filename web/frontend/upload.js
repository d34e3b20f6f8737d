// The upload page: files in, a row for each, and what earlier visits left unfinished.
import { toast } from "./toast.js";
import { drop } from "./upload/drop.js";
import { uploadOf } from "./upload/memory.js";
import { isDoubtful, refusal } from "./upload/refusal.js";
import { Row } from "./upload/row.js";
import { Transfer } from "./upload/transfer.js";
import { Unfinished } from "./upload/unfinished.js";
import { upload as words } from "./words.js";

const page = document.querySelector("[data-upload]");
const list = page.querySelector("[data-uploads]");
const speaker = page.querySelector("[data-announce]");
const most = Number(page.dataset.maxUpload);
const rows = new Set();

const unfinished = new Unfinished(page.querySelector("[data-unfinished]"), (file, upload) => add(file, upload));
const known = unfinished.find();

drop({
  veil: document.querySelector("[data-drop-veil]"),
  input: page.querySelector("[data-files]"),
  pick: page.querySelector("[data-pick]"),
  onFiles: async (files) => {
    await known;
    for (const file of files) addNew(file);
  },
});

window.addEventListener("beforeunload", (event) => {
  if ([...rows].some(({ transfer, details }) => transfer.isFlowing || details.isUnsaved)) event.preventDefault();
});

function addNew(file) {
  const no = refusal(file, most);
  if (no) refuse(file, no);
  else add(file, uploadOf(file, unfinished.waiting));
}

function add(file, upload = null) {
  if (upload) {
    unfinished.take(upload.video_id);
    toast(words.goingOn);
  }
  const transfer = new Transfer(file, upload);
  const row = new Row(transfer, { announce, gone });
  if (isDoubtful(file)) row.doubtful();
  place(row);
  transfer.run();
}

/** A row that only says why its file is not taken. */
function refuse(file, sentence) {
  const transfer = new Transfer(file);
  Object.assign(transfer, { phase: "stopped", trouble: sentence });
  const row = new Row(transfer, { announce, gone });
  row.part("again").remove();
  place(row);
}

function place(row) {
  rows.add(row);
  list.append(row.element);
  page.classList.add("has-rows");
  if (rows.size === 1) row.part("details").open = true;
}

function gone(row) {
  row.transfer.cancel();
  rows.delete(row);
  row.element.remove();
  page.classList.toggle("has-rows", rows.size > 0);
  page.querySelector("[data-pick]").focus();
}

function announce(sentence) {
  speaker.textContent = sentence;
}
