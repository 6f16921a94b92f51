// Bearer tokens, as the host judges them.

import { createHash } from "node:crypto";

import type { Clock } from "@keelson/base";

import { BadCredentials } from "../auth/bad-credentials.ts";
import type { TokenAuthenticator } from "../auth/token-authenticator.ts";
import type { Host, TokenVerdict } from "./host.ts";
import { Remembered } from "./remembered.ts";

/** How long a verdict counts: a token that was taken back is good for so long after. */
const ageMsMax = 10_000;
/** How many verdicts are kept. */
const verdictsMax = 10_000;
/** How long the host may take. */
const askMs = 10_000;

/** Asks the host for each token, and remembers what it said. While the host is away only what it said counts. */
export function delegatedTokens({
  host,
  clock,
}: {
  readonly host: Pick<Host, "reviewToken">;
  readonly clock: Clock;
}): TokenAuthenticator {
  const verdicts = new Remembered<TokenVerdict>({ clock, ageMsMax, sizeMax: verdictsMax });
  return {
    authenticateToken(token, _audiences, signal) {
      // Never the token itself: memory may be dumped.
      const key = createHash("sha256").update(token).digest("base64");
      const known = verdicts.get(key);
      if (known !== undefined) return conclude(known);
      const question = (): Promise<TokenVerdict> => host.reviewToken(token, clock.timeout(askMs));
      return verdicts.ask(key, question, signal).then(conclude);
    },
  };
}

function conclude(verdict: TokenVerdict) {
  if ("refusal" in verdict) throw new BadCredentials(verdict.refusal);
  return verdict;
}
