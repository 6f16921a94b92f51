/** Somebody pressed Ctrl-C: nothing more is to be said. */
export class Interrupted extends Error {
  override readonly name = "Interrupted";
}

/** Runs `work` until its end; the first SIGINT or SIGTERM aborts it, and it throws an `Interrupted`. */
export async function untilInterrupted(
  work: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const interrupted = new AbortController();
  const interrupt = (): void => interrupted.abort(new Interrupted());
  // Only the first is ours: whoever insists is not kept waiting.
  for (const name of ["SIGINT", "SIGTERM"] as const) process.once(name, interrupt);
  try {
    await work(interrupted.signal);
  } catch (error) {
    throw interrupted.signal.aborted ? new Interrupted() : error;
  } finally {
    for (const name of ["SIGINT", "SIGTERM"] as const) process.off(name, interrupt);
  }
}
