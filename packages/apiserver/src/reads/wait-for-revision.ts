// Reads at a revision that is still to come: on another replica it may be there already (KB 7, 20).

import type { Clock } from "@keelson/base";
import { TooNew, type Revision, type Store } from "@keelson/store";

/** How long such a revision is waited for. */
const futureWaitMs = 3_000;

/** Resolves once the store has come to `revision`; throws `TooNew` if that takes too long. */
export async function waitForRevision(
  { store, clock }: { readonly store: Store; readonly clock: Clock },
  revision: Revision,
  signal: AbortSignal,
): Promise<void> {
  if (revision <= (await store.head(signal))) return;
  const patience = new AbortController();
  const give = new DOMException("it did not come in time", "TimeoutError");
  using _ = clock.after(futureWaitMs, () => patience.abort(give));
  try {
    await store.reached(revision, AbortSignal.any([signal, patience.signal]));
  } catch (error) {
    if (!patience.signal.aborted || signal.aborted) throw error;
  }
  const head = await store.head(signal);
  if (revision > head) throw new TooNew(revision, head);
}
