// Tokens that a provider has given us go back into the kubeconfig they came from, as kubectl does it: a refresh token
// may be good for one use only, and whoever starts next needs the new one.

import { open, readFile, realpath, rename, rm, stat, writeFile } from "node:fs/promises";

import type { OidcTokenPair } from "./oidc.ts";

/** Only what needs no quotes and no escapes, whichever way the file is written. */
const plain = /^[\w.~+/=-]+$/;

/**
 * Replaces the old tokens by the new ones and nothing else: comments and order stay. Where that cannot be done, as in
 * a file that is not ours to write, nothing is: the tokens in memory are good, and only the next start needs a login.
 */
export async function writeBack(
  file: string,
  before: Partial<OidcTokenPair>,
  after: OidcTokenPair,
): Promise<void> {
  try {
    // The lock that kubectl takes.
    const lock = await open(`${file}.lock`, "wx", 0o600);
    try {
      // A link to it stays one: whoever keeps it elsewhere reads it there, too.
      const target = await realpath(file);
      const text = await readFile(target, "utf8");
      const changed = replaced(text, before, after);
      if (changed === undefined || changed === text) return;
      const { mode } = await stat(target);
      await writeFile(`${target}.new`, changed, { mode: mode & 0o777 });
      await rename(`${target}.new`, target);
    } finally {
      await lock.close();
      await rm(`${file}.lock`, { force: true });
    }
  } catch {
    // Read-only, locked or gone: see above.
  }
}

function replaced(
  text: string,
  before: Partial<OidcTokenPair>,
  after: OidcTokenPair,
): string | undefined {
  let changed = text;
  for (const name of ["idToken", "refreshToken"] as const) {
    const [old = "", fresh] = [before[name], after[name]];
    if (old === fresh || old === "") continue;
    if (!plain.test(old) || !plain.test(fresh) || !changed.includes(old)) return undefined;
    changed = changed.replaceAll(old, fresh);
  }
  return changed;
}
