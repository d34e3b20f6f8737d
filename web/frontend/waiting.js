// Waiting: pauses that end early when told to, and the growing, jittered delays between tries.

/** Resolves after `seconds`, or as soon as one of `events` ([target, name] pairs) comes; rejects when `signal` fires. */
export function pause(seconds, { signal, events = [] } = {}) {
  return new Promise((resolve, reject) => {
    const over = new AbortController();
    const end = (finish) => () => {
      clearTimeout(timer);
      over.abort();
      finish();
    };
    const timer = setTimeout(end(resolve), seconds * 1000);
    for (const [target, name] of events) target.addEventListener(name, end(resolve), { signal: over.signal });
    const stopped = end(() => reject(new DOMException("stopped", "AbortError")));
    if (signal?.aborted) stopped();
    else signal?.addEventListener("abort", stopped, { signal: over.signal });
  });
}

/** Seconds before try number `tries` (from 0): doubling, at most `most`, anywhere in the upper half so that nobody marches in step. */
export function backOff(tries, { first = 0.5, most = 20 } = {}) {
  const whole = Math.min(most, first * 2 ** tries);
  return whole * (0.5 + Math.random() / 2);
}

export const backOnline = [[window, "online"]];
export const backInSight = [[window, "online"], [window, "focus"], [document, "visibilitychange"]];
