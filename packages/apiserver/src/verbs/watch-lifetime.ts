// How long a watch lasts, the client and the server willing.

import type { Clock, Random } from "@keelson/base";
import type { Revision, Watch } from "@keelson/store";

import type { Registry } from "../resources/registry.ts";
import type { Resource } from "../resources/resource.ts";

/** A watch that names no end is closed after 30 to 60 minutes, so that clients spread over the servers again (KB 9). */
const lifetimeMsMin = 30 * 60_000;

/** How often a watch that is behind is looked at for the last change that is its resource's. */
const lookMs = 50;

interface Parts {
  readonly clock: Clock;
  readonly random: Random;
  readonly registry: Registry;
}

/**
 * Lasts until its time is up, or until the resource of the watch is another: what comes then may look otherwise, or be of
 * another kind by the same name (A23). It is ended in order, after everything up to that change was handed out.
 */
export class WatchLifetime implements Disposable {
  readonly #clock: Clock;
  readonly #controller = new AbortController();
  readonly #held = new DisposableStack();
  #changes: Pick<Watch, "position"> | undefined;
  #next: Disposable | undefined;
  #through = Number.POSITIVE_INFINITY;

  constructor(
    { clock, random, registry }: Parts,
    resource: Resource,
    { timeoutSeconds }: { readonly timeoutSeconds?: number | undefined },
  ) {
    this.#clock = clock;
    const isSaid = timeoutSeconds !== undefined && timeoutSeconds > 0;
    const lifetimeMs = isSaid ? timeoutSeconds * 1000 : lifetimeMsMin * (1 + random.float());
    // Not `clock.timeout`: that would outlive a client that leaves early.
    this.#held.use(
      clock.after(lifetimeMs, () =>
        this.#end(new DOMException("the watch has lasted long enough", "TimeoutError")),
      ),
    );
    this.#held.use(
      registry.onReplaced(resource, (revision) => {
        this.#through = revision;
        this.look();
      }),
    );
  }

  /** Aborts at its end. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** The last revision that the watch tells of; infinite as long as its resource is what it was. */
  get through(): Revision {
    return this.#through;
  }

  /** From here on it knows how far the watch has come. */
  follow(changes: Pick<Watch, "position">): void {
    this.#changes = changes;
    this.look();
  }

  /** Ends the watch if nothing more can come that is its resource's. To be called when some changes have gone out. */
  look(): void {
    const { signal, through } = this;
    if (through === Number.POSITIVE_INFINITY || signal.aborted || this.#changes === undefined) {
      return;
    }
    if (this.#changes.position >= through) {
      this.#end(new DOMException("what is watched is served no longer", "AbortError"));
      return;
    }
    // One that is behind may find nothing more in the log, and has nothing to say then.
    this.#next?.[Symbol.dispose]();
    this.#next = this.#clock.after(lookMs, () => this.look());
  }

  [Symbol.dispose](): void {
    this.#next?.[Symbol.dispose]();
    this.#held.dispose();
  }

  #end(reason: DOMException): void {
    this.#controller.abort(reason);
  }
}
