// What this browser remembers; where it may not (private windows, frames), it just forgets.

export function recall(key, fallback) {
  try {
    return JSON.parse(localStorage.getItem(`matinee:${key}`)) ?? fallback;
  } catch {
    return fallback;
  }
}

export function remember(key, value) {
  try {
    localStorage.setItem(`matinee:${key}`, JSON.stringify(value));
  } catch {
    // Full or forbidden: the page works without it.
  }
}

export function setCookie(name, value) {
  const year = value === null ? 0 : 31536000;
  const secure = location.protocol === "https:" ? "; Secure" : "";
  document.cookie = `${name}=${value ?? ""}; Path=/; Max-Age=${year}; SameSite=Lax${secure}`;
}
