// Opens a file, reads one object and says so.

import { keyOf, never, openStore } from "../fixtures.ts";

if (import.meta.main) {
  const [path = "", n = "0"] = process.argv.slice(2);
  await using store = (await openStore("sqlite", path)).store;
  const { revision } = await store.get(keyOf(Number(n)), never);
  process.send?.({ revision });
  process.disconnect();
}
