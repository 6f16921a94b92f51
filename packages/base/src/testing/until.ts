import { systemClock } from "../clock.ts";

/** Long enough for a busy machine, and shorter than a test may take: so it can say what it waited for. */
const patienceMs = 180_000;
const pauseMs = 2;

/** Waits for a fact of this process, looking again and again. Throws, with what it is, when it never comes true. */
export async function until(fact: () => boolean | Promise<boolean>, what = ""): Promise<void> {
  const deadlineMs = systemClock.monotonic() + patienceMs;
  while (!(await fact())) {
    if (systemClock.monotonic() > deadlineMs)
      throw new Error(`it never came true${what && `: ${what}`}`);
    // A fact may be known without I/O: what is to bring it about must have its turn.
    await systemClock.sleep(pauseMs, never);
  }
}

const never = new AbortController().signal;
