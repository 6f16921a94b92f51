import type { Source } from "@keelson/controller";

/**
 * A source of children, which nobody waits for: whoever reads one waits for its cache, and a kind that the cluster does not
 * serve must not hold up the others.
 */
export function unawaited(source: Source): Source {
  return { start: (enqueue) => source.start(enqueue), untilReady: () => Promise.resolve() };
}
