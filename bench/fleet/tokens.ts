// What it costs to know a caller by a token: requests in a second, beside those of a server that asks nobody.

import { createHash } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder } from "../../test/e2e/keelson-process.ts";
import { closedLoop, duel } from "../measure.ts";
import { judged, type Row } from "../report.ts";
import { numberOf, type Run } from "../suite.ts";
import { startBed, type Bed } from "./bed.ts";

const token = "let-me-in";
/** Whichever it is, it is found by its digest. */
const tokensMax = 1_000;
const atOnce = 16;

export async function bench(run: Run): Promise<readonly Row[]> {
  const rounds = numberOf(run, "rounds", run.isQuick ? 1 : 5);
  const ms = numberOf(run, "seconds", run.isQuick ? 1 : 5) * 1000;
  await using folder = await temporaryFolder();
  const tokensFile = join(folder.path, "tokens.json");
  const names = [token, ...Array.from({ length: tokensMax - 1 }, (_, n) => `token-${n}`)];
  const tokens = names.map((name) => {
    const sha256 = createHash("sha256").update(name).digest("hex");
    return { name, sha256, role: "admin" };
  });
  await writeFile(tokensFile, JSON.stringify({ tokens }));
  await using guarded = await startBed(run, { KEELSON_TOKENS_FILE: tokensFile });
  await using open = await startBed(run);
  const asking = (bed: Bed, headers: Readonly<Record<string, string>>) => (forMs: number) =>
    closedLoop(atOnce, () => bed.ask("GET", "/targets/local", undefined, headers), { ms: forMs });
  run.say(`asking for ${ms / 1000} s at a time, with a token and without`);
  const { value, baseline, ratio } = await duel(
    { ours: asking(guarded, { authorization: `Bearer ${token}` }), other: asking(open, {}) },
    { rounds, ms },
  );
  const name = `authenticated requests, ${atOnce} at once`;
  return [judged({ name, value, unit: "/s", baseline, ratio }, { atLeast: 1_000 })];
}
