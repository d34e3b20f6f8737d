// Dialogs: opened by [data-open-dialog], closed by [data-close-dialog], Escape or a click beside them.

export function dialogs(root = document) {
  for (const opener of root.querySelectorAll("[data-open-dialog]")) {
    opener.hidden = false;
    opener.addEventListener("click", () => open(opener.dataset.openDialog));
  }
  for (const dialog of root.querySelectorAll("dialog")) {
    dialog.addEventListener("click", (event) => {
      if (event.target === dialog || event.target.closest("[data-close-dialog]")) dialog.close();
    });
  }
}

export function open(id) {
  const dialog = document.getElementById(id);
  if (dialog && !dialog.open) dialog.showModal();
}
