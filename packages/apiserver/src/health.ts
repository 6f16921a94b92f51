// Whether the server lives, and whether it can serve: `/livez`, `/readyz` and the older `/healthz`.

import { untilAbort, type Clock } from "@keelson/base";

import type { PathHandler } from "./api-handler.ts";
import type { Answer } from "./http/answer.ts";

/** One thing that must hold. Rejects with what does not. */
export interface HealthCheck {
  readonly name: string;
  check(signal: AbortSignal): Promise<void>;
}

/** How long all checks together may take: whoever asks gives up after 2 s, and the answer takes its time too. */
const checksMs = 1_500;

/**
 * Answers the three paths, each check alone below it, and `?verbose` and `?exclude=`. Living does not depend on the database.
 */
export function healthPaths({
  live,
  ready,
  clock,
}: {
  readonly live: readonly HealthCheck[];
  readonly ready: readonly HealthCheck[];
  readonly clock: Clock;
}): PathHandler {
  const checksOf: Readonly<Record<string, readonly HealthCheck[]>> = {
    livez: live,
    healthz: [...live, ...ready],
    readyz: [...live, ...ready],
  };
  return async ({ info, query, signal }) => {
    const [, endpoint = "", one, ...rest] = info.path.split("/");
    const checks = Object.hasOwn(checksOf, endpoint) ? checksOf[endpoint] : undefined;
    if (checks === undefined || rest.length > 0) return undefined;
    const isAlone = one !== undefined && one !== "";
    const chosen = isAlone ? checks.filter(({ name }) => name === one) : checks;
    if (isAlone && chosen.length === 0) return undefined;
    const excluded = new Set(query.getAll("exclude"));
    const within = AbortSignal.any([signal, clock.timeout(checksMs)]);
    const results = await Promise.all(
      chosen.map(async (one) => {
        const { name } = one;
        if (excluded.has(name)) return { name, isExcluded: true, isGood: true };
        // Whether or not the check heeds its signal.
        const isGood = await untilAbort(one.check(within), within).then(
          () => true,
          () => false,
        );
        return { name, isExcluded: false, isGood };
      }),
    );
    const isGood = results.every((result) => result.isGood);
    if (isGood && (isAlone || !query.has("verbose"))) return plain(200, "ok");
    const lines = results.map(({ name, isExcluded, isGood: passed }) => {
      if (isExcluded) return `[+]${name} excluded: ok`;
      return passed ? `[+]${name} ok` : `[-]${name} failed: reason withheld`;
    });
    const verdict = `${endpoint} check ${isGood ? "passed" : "failed"}`;
    return plain(isGood ? 200 : 500, `${lines.join("\n")}\n${verdict}\n`);
  };
}

function plain(code: number, body: string): Answer {
  return {
    code,
    contentType: "text/plain; charset=utf-8",
    body,
    headers: { "x-content-type-options": "nosniff" },
  };
}
