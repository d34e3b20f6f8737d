// The JSON API with the browser's own sign-in; every failure is a Trouble with the server's sentence.
import { site } from "./words.js";

export class Trouble extends Error {
  /** `status` is 0 where there was no answer at all; `retryAfter` in seconds, 0 where the server did not say. */
  constructor(status, message, retryAfter = 0) {
    super(message);
    this.name = "Trouble";
    this.status = status;
    this.retryAfter = retryAfter;
  }
}

/** The decoded answer, or null for one without content. Throws Trouble; AbortError when `signal` fires. */
export async function call(method, path, { body, headers = {}, signal } = {}) {
  const answer = await ask(path, {
    method,
    signal,
    credentials: "same-origin",
    headers: { Accept: "application/json", ...(body ? { "Content-Type": "application/json" } : {}), ...headers },
    body: body ? JSON.stringify(body) : undefined,
  });
  if (answer.ok) return answer.status === 204 ? null : answer.json();
  throw await troubleOf(answer);
}

async function ask(path, request) {
  try {
    return await fetch(path, request);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Trouble(0, site.noAnswer);
  }
}

async function troubleOf(answer) {
  const said = await answer.json().catch(() => null);
  return new Trouble(answer.status, said?.error?.message ?? site.noAnswer, Number(answer.headers.get("Retry-After")) || 0);
}
