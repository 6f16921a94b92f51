import assert from "node:assert/strict";
import { suite, test } from "node:test";

import { ManualClock } from "@keelson/base/testing";

import { anonymous } from "./auth/user.ts";
import { healthPaths } from "./health.ts";
import { requestInfo } from "./http/request-info.ts";

/** Two databases that say nothing: one whose driver heeds its signal, one whose driver does not. */
const silent = {
  heeding: (signal: AbortSignal) =>
    new Promise<void>((_, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
    }),
  deaf: () => new Promise<void>(() => undefined),
} as const;

function prepare(check: (signal: AbortSignal) => Promise<void>) {
  const clock = new ManualClock();
  const answer = healthPaths({
    live: [{ name: "ping", check: () => Promise.resolve() }],
    ready: [{ name: "database", check }],
    clock,
  });
  const ask = async (url: string, signal: AbortSignal): Promise<string | undefined> => {
    const [path = "", search = ""] = url.split("?");
    const query = new URLSearchParams(search);
    const info = requestInfo("GET", path, query);
    const answered = await answer({
      method: "GET",
      path,
      query,
      info,
      headers: {},
      body: new Uint8Array(),
      auditId: "",
      signal,
      user: anonymous,
      warn: () => undefined,
      warnings: [],
    });
    return answered && `${answered.code} ${String(answered.body)}`;
  };
  return { clock, ask };
}

suite("health", () => {
  for (const [name, check] of Object.entries(silent)) {
    test(`FAULT-3 of a ${name} database is told within 2 s, and life does not depend on it`, async (t) => {
      const { clock, ask } = prepare(check);
      const paths = ["/readyz", "/healthz", "/readyz/database", "/readyz?verbose"];
      const answers = paths.map((path) => ask(path, t.signal));
      let isAnswered = false;
      void Promise.race(answers).then(() => (isAnswered = true));
      // While the others wait these are answered at once.
      assert.equal(await ask("/livez", t.signal), "200 ok");
      assert.equal(await ask("/readyz?exclude=database", t.signal), "200 ok");
      assert.equal(await ask("/readyz/ping", t.signal), "200 ok");
      assert.equal(isAnswered, false);
      await clock.advance(2_000);
      const failed = "[+]ping ok\n[-]database failed: reason withheld\n";
      assert.deepEqual(await Promise.all(answers), [
        `500 ${failed}readyz check failed\n`,
        `500 ${failed}healthz check failed\n`,
        "500 [-]database failed: reason withheld\nreadyz check failed\n",
        `500 ${failed}readyz check failed\n`,
      ]);
    });
  }

  test("is what the checks say", async (t) => {
    let isUp = true;
    const { ask } = prepare(() => (isUp ? Promise.resolve() : Promise.reject(new Error("away"))));
    assert.equal(await ask("/readyz", t.signal), "200 ok");
    assert.equal(
      await ask("/readyz?verbose", t.signal),
      "200 [+]ping ok\n[+]database ok\nreadyz check passed\n",
    );
    isUp = false;
    assert.match((await ask("/readyz", t.signal)) ?? "", /^500 .*\[-\]database failed/s);
    assert.equal(await ask("/livez", t.signal), "200 ok");
    assert.equal(await ask("/readyz/nothing", t.signal), undefined);
    assert.equal(await ask("/elsewhere", t.signal), undefined);
  });
});
