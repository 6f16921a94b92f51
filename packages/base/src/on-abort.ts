// Thousands wait on the one signal that stops the process, and the platform compares each new listener with
// all the others. Here they share one listener.

/**
 * Calls `callback` once, when `signal` aborts, in the order of the calls to `onAbort`; if it has aborted already, right
 * after whoever is running, since nobody would call any more. Disposing of the result takes it back. Takes constant time
 * however many listen. `callback` must not throw.
 */
export function onAbort(signal: AbortSignal, callback: () => void): Disposable {
  if (signal.aborted) return soon(callback);
  const audience = audiences.get(signal) ?? gather(signal);
  // A seat of its own for each call: the same callback may be waiting twice.
  const seat = { callback };
  if (audience.seats.size === 0) {
    signal.addEventListener("abort", audience.announce, { once: true });
  }
  audience.seats.add(seat);
  return {
    [Symbol.dispose]: () => {
      if (audience.seats.delete(seat) && audience.seats.size === 0) {
        signal.removeEventListener("abort", audience.announce);
      }
    },
  };
}

/** Never at once: whoever waits may not have what the callback needs until we return. */
function soon(callback: () => void): Disposable {
  let isTakenBack = false;
  queueMicrotask(() => {
    if (!isTakenBack) callback();
  });
  return { [Symbol.dispose]: () => (isTakenBack = true) };
}

/** All who wait for one signal. It listens only while there is somebody. */
interface Audience {
  readonly seats: Set<{ readonly callback: () => void }>;
  readonly announce: () => void;
}

const audiences = new WeakMap<AbortSignal, Audience>();

function gather(signal: AbortSignal): Audience {
  const seats: Audience["seats"] = new Set();
  const announce = (): void => {
    for (const seat of seats) {
      // One callback may take back another that has not been called yet.
      if (seats.delete(seat)) seat.callback();
    }
  };
  const audience = { seats, announce };
  audiences.set(signal, audience);
  return audience;
}
