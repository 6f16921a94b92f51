// Who may do what, as the host judges it.

import { createHash } from "node:crypto";

import type { Clock } from "@keelson/base";

import type { Attributes, Authorizer, Decision } from "../auth/authorizer.ts";
import { mastersGroup, type User } from "../auth/user.ts";
import type { Host } from "./host.ts";
import { Remembered } from "./remembered.ts";

/** How long a decision counts: a right that was taken away is there for so long after. */
const ageMsMax = 10_000;
/** How many decisions are kept. */
const decisionsMax = 10_000;
/** How long the host may take. */
const askMs = 10_000;

const allowed: Decision = { isAllowed: true, reason: "" };

/**
 * Asks the host, and remembers what it said; whoever may do everything is not asked about. While the host is away only
 * what it said counts, and then nobody may.
 */
export function delegatedAuthorizer({
  host,
  clock,
}: {
  readonly host: Pick<Host, "reviewAccess">;
  readonly clock: Clock;
}): Authorizer {
  const decisions = new Remembered<Decision>({ clock, ageMsMax, sizeMax: decisionsMax });
  return {
    authorize(user, attributes, signal) {
      if (user.groups.includes(mastersGroup)) return allowed;
      const key = keyOf(user, attributes);
      const known = decisions.get(key);
      if (known !== undefined) return known;
      const question = (): Promise<Decision> =>
        host.reviewAccess(user, attributes, clock.timeout(askMs));
      return decisions.ask(key, question, signal);
    },
  };
}

/** Everything that the host is told; short, whatever the caller sends. */
function keyOf({ name, uid, groups, extra }: User, attributes: Attributes): string {
  const text = JSON.stringify([name, uid, groups, extra, attributes]);
  return createHash("sha256").update(text).digest("base64");
}
