import assert from "node:assert/strict";
import { suite, test } from "node:test";

import { ManualClock, until } from "@keelson/base/testing";

import type { Authenticator } from "../auth/authenticator.ts";
import { mastersGroup } from "../auth/user.ts";
import { Api, type OpenWatch, type Reply } from "../testing/api.ts";
import { startTestServer } from "../testing/test-server.ts";

const maps = "/api/v1/namespaces/default/configmaps";
/** Waited for by the server's clock, which stands still. */
const future = `${maps}?resourceVersion=99999999&resourceVersionMatch=NotOlderThan`;

/** Whoever says a name is called so. */
const byName: Authenticator = {
  authenticate: ({ authorization = "" }) => ({
    user: { name: authorization, uid: "", groups: [mastersGroup], extra: {} },
  }),
};

/** One request for each user, nobody waits; one watch for each. */
const limits = {
  requests: {
    runningMax: 10,
    runningPerUserMax: 1,
    waitingMax: 10,
    waitingPerUserMax: 0,
    waitMsMax: 5_000,
  },
  watches: { runningMax: 10, runningPerUserMax: 1 },
};

async function prepare(signal: AbortSignal, more: Partial<typeof limits.requests> = {}) {
  const clock = new ManualClock();
  const server = await startTestServer(
    {
      clock,
      authenticator: byName,
      limits: { ...limits, requests: { ...limits.requests, ...more } },
    },
    signal,
  );
  const api = new Api(server.url, signal);
  return {
    clock,
    get: (user: string, path: string): Promise<Reply> =>
      api.send("GET", path, { headers: { authorization: user } }),
    watch: (user: string): Promise<OpenWatch> =>
      api.watch(`${maps}?watch=1`, { authorization: user }),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

/** KB 55: the code, the header, and a Status that says the same. */
function assertRefused({ code, headers, object }: Reply): void {
  assert.deepEqual(
    [code, headers.get("retry-after"), headers.get("content-type"), object],
    [
      429,
      "1",
      "application/json",
      {
        kind: "Status",
        apiVersion: "v1",
        metadata: {},
        status: "Failure",
        message: "Too many requests, please try again later.",
        reason: "TooManyRequests",
        details: { retryAfterSeconds: 1 },
        code: 429,
      },
    ],
  );
}

suite("limits, over HTTP", () => {
  test("KB 55 a user with too many requests is refused with Retry-After, and no other", async (t) => {
    await using bed = await prepare(t.signal);
    const { clock, get } = bed;
    const first = get("loud", future);
    // Before the first has come the second is answered.
    let second = await get("loud", maps);
    await until(async () => {
      second = await get("loud", maps);
      return second.code !== 200;
    }, "the first request runs");
    assertRefused(second);
    assert.equal((await get("quiet", maps)).code, 200);
    // Health has no limit, whoever asks.
    assert.equal((await get("loud", "/readyz")).code, 200);
    await clock.advance(3_000);
    assert.equal((await first).code, 504);
    assert.equal((await get("loud", maps)).code, 200);
  });

  test("watches count apart: neither do they take a request's turn, nor a request theirs", async (t) => {
    await using bed = await prepare(t.signal);
    const { clock, get, watch } = bed;
    using open = await watch("loud");
    assert.equal(open.code, 200);
    assertRefused(await get("loud", `${maps}?watch=1`));
    using others = await watch("quiet");
    assert.equal(others.code, 200);
    assert.equal((await get("loud", maps)).code, 200);

    const running = get("quiet", future);
    await until(async () => (await get("quiet", maps)).code === 429, "a request runs");
    others[Symbol.dispose]();
    await until(async () => {
      using again = await watch("quiet");
      return again.code === 200;
    }, "a watch is opened beside it");
    await clock.advance(3_000);
    await running;
  });

  test("KB 55 who waits too long for a turn is refused with Retry-After, too", async (t) => {
    const few = { runningMax: 1, waitingPerUserMax: 1, waitMsMax: 1_000 };
    await using bed = await prepare(t.signal, few);
    const { clock, get } = bed;
    const running = get("holder", future);
    const replies: Promise<Reply>[] = [];
    // Once that one runs, of two requests of a user one waits, and the other is refused at once.
    await until(async () => {
      const user = `user-${replies.length}`;
      const two = [get(user, maps), get(user, maps)];
      replies.push(...two);
      return (await Promise.race(two)).code === 429;
    }, "one waits and the other is refused");
    await clock.advance(1_000);
    const [one, other] = (await Promise.all(replies)).slice(-2);
    assert.ok(one !== undefined && other !== undefined);
    assertRefused(one);
    assertRefused(other);
    await clock.advance(2_000);
    assert.equal((await running).code, 504);
  });
});
