// Background work that cannot be forgotten: it belongs to a block, and the block does not end before it.

/** A task of a scope failed. The `cause` is what it threw. */
export class TaskFailed extends Error {
  readonly code = "TASK_FAILED";
  /** The name that the task was spawned under. */
  readonly task: string;

  constructor(task: string, cause: unknown) {
    super(`task ${task} failed: ${cause instanceof Error ? cause.message : String(cause)}`, {
      cause,
    });
    this.name = "TaskFailed";
    this.task = task;
  }
}

/**
 * Owns tasks that run beside each other.
 *
 * - The first task to fail cancels the others; `join` waits for all and rejects with `TaskFailed`. When more
 *   than one failed it rejects with an `AggregateError` of their `TaskFailed`, in the order of failing, the
 *   first also as its `cause`.
 * - An abort of the parent cancels all and is no failure. A task that ends because it was cancelled, by
 *   throwing the signal's reason, an `AbortError` or something caused by the reason, has not failed;
 *   anything else that it throws, even then, is a failure.
 * - Leaving the `await using` block cancels all, waits for all, and throws the failures that no `join` has
 *   thrown.
 */
export class TaskScope implements AsyncDisposable {
  readonly #parent: AbortSignal;
  readonly #controller = new AbortController();
  readonly #cancelWithParent = (): void => this.#controller.abort(this.#parent.reason);
  #running = 0;
  #disposed = false;
  #idle: PromiseWithResolvers<void> | undefined;
  #failures: TaskFailed[] = [];

  constructor(signal: AbortSignal) {
    this.#parent = signal;
    // Not `AbortSignal.any`: a parent that lives as long as the process would collect the scopes of its life.
    if (signal.aborted) this.#cancelWithParent();
    else signal.addEventListener("abort", this.#cancelWithParent, { once: true });
  }

  /** Aborts when the parent does, when a task fails, or when the block is left. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /**
   * Starts a task at once. `run` must end soon after its signal aborts.
   *
   * In a scope that is already cancelled the task does not start. Throws when the block has been left: such
   * a task would belong to nobody.
   */
  spawn(name: string, run: (signal: AbortSignal) => Promise<void>): void {
    if (this.#disposed) throw new Error(`task ${name} was spawned in a scope that has ended`);
    if (this.signal.aborted) return;
    this.#running++;
    void this.#run(name, run);
  }

  /** Waits until no task is running, those spawned meanwhile included. Throws each failure once. */
  async join(): Promise<void> {
    if (this.#running > 0) {
      this.#idle ??= Promise.withResolvers();
      await this.#idle.promise;
    }
    const failures = this.#failures;
    this.#failures = [];
    const [first, ...others] = failures;
    if (first === undefined) return;
    if (others.length === 0) throw first;
    const names = failures.map(({ task }) => task).join(", ");
    throw new AggregateError(failures, `${failures.length} tasks failed: ${names}`, {
      cause: first,
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#disposed = true;
    this.#parent.removeEventListener("abort", this.#cancelWithParent);
    if (!this.signal.aborted) {
      this.#controller.abort(new DOMException("the scope has ended", "AbortError"));
    }
    await this.join();
  }

  async #run(name: string, run: (signal: AbortSignal) => Promise<void>): Promise<void> {
    try {
      await run(this.signal);
    } catch (error) {
      if (!isCancellation(error, this.signal)) {
        this.#failures.push(new TaskFailed(name, error));
        this.#controller.abort(
          new DOMException(`cancelled because task ${name} failed`, "AbortError"),
        );
      }
    } finally {
      this.#running--;
      if (this.#running === 0) {
        this.#idle?.resolve();
        this.#idle = undefined;
      }
    }
  }
}

/** Whether `error` only says that `signal` aborted. */
export function isCancellation(error: unknown, signal: AbortSignal): boolean {
  if (!signal.aborted) return false;
  const seen = new Set<unknown>();
  for (let link = error; !seen.has(link); link = link.cause) {
    if (link === signal.reason) return true;
    if (!(link instanceof Error)) return false;
    if (link.name === "AbortError") return true;
    seen.add(link);
  }
  return false;
}
