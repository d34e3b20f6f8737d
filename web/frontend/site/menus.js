// An open menu closes by Escape (the focus goes back to what opened it), by a click beside it and when the focus leaves.

export function closeMenus() {
  for (const menu of document.querySelectorAll("[data-menu]")) {
    menu.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || !menu.open) return;
      menu.open = false;
      menu.querySelector("summary").focus();
    });
    menu.addEventListener("focusout", (event) => {
      if (event.relatedTarget && !menu.contains(event.relatedTarget)) menu.open = false;
    });
    document.addEventListener("pointerdown", (event) => {
      if (!menu.contains(event.target)) menu.open = false;
    });
  }
}
