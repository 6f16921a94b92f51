import type { ListOptions, Row, Scope, Store } from "@keelson/store";

const pageSize = 500;

/** Every object of a collection as of one revision, read a page at a time. */
export async function* rowsOf(
  store: Pick<Store, "list">,
  scope: Scope,
  signal: AbortSignal,
): AsyncGenerator<Row> {
  let options: ListOptions = { limit: pageSize };
  for (;;) {
    const page = await store.list(scope, options, signal);
    yield* page.items;
    if (page.continue === undefined) return;
    options = { limit: pageSize, continue: page.continue };
  }
}
