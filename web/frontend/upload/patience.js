// What to do when a step of an upload fails: wait and go on by itself wherever that can help, else say why not.
import { backInSight, backOff, backOnline, pause } from "../waiting.js";
import { upload as words } from "../words.js";

const DAMAGED_MOST = 5;
const FULL_WAIT = 15;
const SIGN_IN_WAIT = 10;

export class Hopeless extends Error {}

/** Runs `step` until it succeeds. `tell` hears what holds it up ({phase, words}), and null when it goes on.
 * Throws Hopeless with a sentence where waiting will not help; AbortError when `signal` fires; whatever `pass` picks out. */
export async function patiently(step, { tell, signal, pass = () => false }) {
  for (let tries = 0; ; tries += 1) {
    try {
      const result = await step();
      if (tries > 0) tell(null);
      return result;
    } catch (error) {
      if (error.name !== "Trouble" || pass(error)) throw error;
      const plan = planFor(error, tries);
      if (plan.tell) tell(plan.tell);
      await pause(plan.seconds, { signal, events: plan.events });
    }
  }
}

function planFor({ status, message, retryAfter }, tries) {
  const wait = (seconds, events, phase, said) => ({ seconds, events, tell: phase && { phase, words: said } });
  if (status === 0) return wait(backOff(tries), backOnline, "lost", words.lost);
  if (status === 401) return wait(SIGN_IN_WAIT, backInSight, "signin", words.signIn);
  if (status === 507) return wait(retryAfter || FULL_WAIT, [], "full", words.full);
  if (status === 408 || status === 429 || (status >= 500 && status <= 504)) {
    return wait(Math.max(retryAfter, backOff(tries)), [], tries > 0 ? "busy" : null, words.busy);
  }
  if (status === 400 && tries < DAMAGED_MOST) return wait(backOff(tries, { first: 0.2, most: 2 }), [], null);
  throw new Hopeless({ 400: words.damaged, 403: words.notYours, 404: words.gone, 409: words.gone }[status] ?? message);
}
