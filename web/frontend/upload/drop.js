// Files come by dropping them anywhere on the page, or by choosing them.

export function drop({ veil, input, pick, onFiles }) {
  let inside = 0;
  const hasFiles = (event) => event.dataTransfer?.types.includes("Files");
  const show = (on) => (veil.hidden = !on);

  document.addEventListener("dragenter", (event) => hasFiles(event) && (inside += 1) && show(true));
  document.addEventListener("dragleave", (event) => hasFiles(event) && (inside -= 1) <= 0 && show(false));
  document.addEventListener("dragover", (event) => hasFiles(event) && event.preventDefault());
  document.addEventListener("drop", (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    inside = 0;
    show(false);
    onFiles([...event.dataTransfer.files]);
  });
  pick.addEventListener("click", () => input.click());
  input.addEventListener("change", () => {
    onFiles([...input.files]);
    input.value = "";
  });
}
