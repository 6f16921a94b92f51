// The certificate library, loaded when the first certificate is made or taken apart: most starts need neither.

import type * as x509 from "@peculiar/x509";

/** Its module. */
export async function loadX509(): Promise<typeof x509> {
  await import("reflect-metadata"); // What the library finds its parts with; it must come first.
  return await import("@peculiar/x509");
}
