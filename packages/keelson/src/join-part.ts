// A part that runs by itself, as a task beside the others.

import { aborted } from "./aborted.ts";

export interface JoinPartOptions {
  /** Of the task: aborts when another one has failed too. */
  readonly signal: AbortSignal;
  /** What the part heeds by itself. */
  readonly stopping: AbortSignal;
}

/**
 * Ends with the part; and when another task has failed, of which the part knows nothing: it goes on until it is undone, and
 * whoever waited for it would wait for ever.
 */
export async function joinPart(
  part: { join(): Promise<void> },
  { signal, stopping }: JoinPartOptions,
): Promise<void> {
  const ended = part.join();
  await Promise.race([ended, aborted(signal)]);
  if (stopping.aborted) await ended;
}
