import { NotFound, type Key, type Row, type Store } from "@keelson/store";

/** The object as the store has it; undefined if there is none. */
export async function findRow(
  store: Pick<Store, "get">,
  key: Key,
  signal: AbortSignal,
): Promise<Row | undefined> {
  try {
    return await store.get(key, signal);
  } catch (error) {
    if (error instanceof NotFound) return undefined;
    throw error;
  }
}
