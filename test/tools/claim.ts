// Names that one process of the machine has at a time.

import { once } from "node:events";
import { createServer } from "node:net";

/**
 * Takes a name that is no file and goes with the process, or when it is disposed; undefined if somebody has it. Where there are no
 * such names nobody is kept from one.
 */
export async function claimName(name: string): Promise<Disposable | undefined> {
  const claim = createServer().unref();
  const claimed = { [Symbol.dispose]: () => void claim.close() };
  if (process.platform !== "linux") return claimed;
  try {
    claim.listen(`\0${name}`);
    await once(claim, "listening");
    return claimed;
  } catch {
    return undefined;
  }
}
