// Whether a key press is somebody writing, so that one-letter shortcuts stay out of the way.

export function isTyping(event) {
  const target = event.composedPath()[0];
  if (!(target instanceof HTMLElement)) return false;
  if (target.isContentEditable || target.matches("textarea, select")) return true;
  return target.matches("input") && !["range", "checkbox", "radio", "button", "submit"].includes(target.type);
}

export const hasModifier = (event) => event.ctrlKey || event.metaKey || event.altKey;
