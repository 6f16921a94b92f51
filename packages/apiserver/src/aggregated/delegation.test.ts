import assert from "node:assert/strict";
import { suite, test } from "node:test";

import { systemRandom } from "@keelson/base";
import { ManualClock, RecordingLog } from "@keelson/base/testing";

import type { Attributes, Decision } from "../auth/authorizer.ts";
import { BadCredentials } from "../auth/bad-credentials.ts";
import { createAuthority, createKey } from "../auth/pki/certificate.ts";
import { anonymous, type User } from "../auth/user.ts";
import { isOurFault, toStatusError } from "../errors.ts";
import { delegatedAuthorizer } from "./delegated-authorizer.ts";
import { delegatedTokens } from "./delegated-tokens.ts";
import { HostUnavailable, type TokenVerdict } from "./host.ts";
import { BadHostTrust, HostTrust, readTrust } from "./host-trust.ts";

const { signal } = new AbortController();
const alice: User = { name: "alice", uid: "1", groups: ["dev"], extra: {} };
const listAgents: Attributes = {
  isResource: true,
  verb: "list",
  group: "ark.mckinsey.com",
  version: "v1alpha1",
  resource: "agents",
  subresource: "",
  namespace: "default",
  name: "",
};

/** A host whose answers a test decides, and that counts its questions. */
class ScriptedHost {
  decision: Decision = { isAllowed: true, reason: "" };
  verdict: TokenVerdict = { user: alice, audiences: [] };
  isAway = false;
  questions = 0;

  reviewAccess = async (): Promise<Decision> => this.#answer(this.decision);
  reviewToken = async (): Promise<TokenVerdict> => this.#answer(this.verdict);

  async #answer<T>(answer: T): Promise<T> {
    this.questions += 1;
    await Promise.resolve();
    if (this.isAway) throw new HostUnavailable("it does not answer");
    return answer;
  }
}

suite("delegated authorisation", () => {
  test("a caller that has left hears nothing of a host that is away, and ends nobody else", async () => {
    const host = new ScriptedHost();
    host.isAway = true;
    const authorizer = delegatedAuthorizer({ host, clock: new ManualClock() });
    const gone = AbortSignal.abort(new Error("the client left"));
    const asked = async (): Promise<Decision> => authorizer.authorize(alice, listAgents, gone);
    await assert.rejects(asked(), { message: "the client left" });
    // A rejection that nobody hears is told after this turn, and would fail the test.
    await new Promise((resolve) => setImmediate(resolve));
  });

  test("a decision counts for ten seconds, and not a moment longer", async () => {
    const clock = new ManualClock();
    const host = new ScriptedHost();
    const authorizer = delegatedAuthorizer({ host, clock });
    assert.equal((await authorizer.authorize(alice, listAgents, signal)).isAllowed, true);
    host.decision = { isAllowed: false, reason: "no longer" };
    await clock.advance(9_999);
    assert.equal((await authorizer.authorize(alice, listAgents, signal)).isAllowed, true);
    await clock.advance(1);
    assert.deepEqual(await authorizer.authorize(alice, listAgents, signal), host.decision);
    assert.equal(host.questions, 2);
  });

  test("whoever differs in anything is asked about apart", async () => {
    const host = new ScriptedHost();
    const authorizer = delegatedAuthorizer({ host, clock: new ManualClock() });
    const others: User[] = [
      alice,
      { ...alice, uid: "2" },
      { ...alice, groups: ["dev", "ops"] },
      { ...alice, extra: { scope: ["a"] } },
      { ...alice, name: 'alice","1' },
    ];
    for (const user of others) await authorizer.authorize(user, listAgents, signal);
    await authorizer.authorize(alice, { ...listAgents, name: "a" }, signal);
    assert.equal(host.questions, 6);
  });

  test("those who ask the same at the same time share a question", async () => {
    const host = new ScriptedHost();
    const authorizer = delegatedAuthorizer({ host, clock: new ManualClock() });
    await Promise.all(
      Array.from({ length: 50 }, async () => await authorizer.authorize(alice, listAgents, signal)),
    );
    assert.equal(host.questions, 1);
  });

  test("who leaves does not take the answer from the others", async () => {
    const host = new ScriptedHost();
    const authorizer = delegatedAuthorizer({ host, clock: new ManualClock() });
    const leaving = new AbortController();
    const left = authorizer.authorize(alice, listAgents, leaving.signal);
    const stays = authorizer.authorize(alice, listAgents, signal);
    leaving.abort(new Error("left"));
    await assert.rejects(async () => await left, /left/);
    assert.equal((await stays).isAllowed, true);
  });

  test("masters may everything, and nobody is asked", async () => {
    const host = new ScriptedHost();
    host.isAway = true;
    const authorizer = delegatedAuthorizer({ host, clock: new ManualClock() });
    const master = { ...alice, groups: ["system:masters"] };
    assert.equal((await authorizer.authorize(master, listAgents, signal)).isAllowed, true);
  });

  test("without the host only what it said counts; then 503, and never yes", async () => {
    const clock = new ManualClock();
    const host = new ScriptedHost();
    const authorizer = delegatedAuthorizer({ host, clock });
    await authorizer.authorize(alice, listAgents, signal);
    host.isAway = true;
    assert.equal((await authorizer.authorize(alice, listAgents, signal)).isAllowed, true);
    await clock.advance(10_000);
    const failure = await Promise.resolve(authorizer.authorize(alice, listAgents, signal)).catch(
      (error: unknown) => error,
    );
    const { status } = toStatusError(failure);
    assert.deepEqual([status.code, status.details?.retryAfterSeconds], [503, 1]);
    assert.equal(isOurFault(failure), false);
    host.isAway = false; // A failure is not remembered.
    assert.equal((await authorizer.authorize(alice, listAgents, signal)).isAllowed, true);
  });

  test("of callers that are made up only so many are remembered", async () => {
    const host = new ScriptedHost();
    const authorizer = delegatedAuthorizer({ host, clock: new ManualClock() });
    await authorizer.authorize(alice, listAgents, signal);
    for (let n = 0; n < 10_000; n += 1) {
      await authorizer.authorize(
        anonymous,
        { isResource: false, verb: "get", path: `/${n}` },
        signal,
      );
    }
    await authorizer.authorize(alice, listAgents, signal);
    assert.equal(host.questions, 10_002);
  });
});

suite("delegated tokens", () => {
  test("a verdict counts for ten seconds, a refusal too", async () => {
    const clock = new ManualClock();
    const host = new ScriptedHost();
    const tokens = delegatedTokens({ host, clock });
    assert.equal((await tokens.authenticateToken("t", [], signal))?.user, alice);
    host.verdict = { refusal: "token expired" };
    assert.equal((await tokens.authenticateToken("t", [], signal))?.user, alice);
    await clock.advance(10_000);
    const refused = async (): Promise<unknown> => await tokens.authenticateToken("t", [], signal);
    await assert.rejects(refused, (error) => error instanceof BadCredentials);
    await assert.rejects(refused, /token expired/);
    assert.equal(host.questions, 2);
  });

  test("a host that is away does not make a token wrong", async () => {
    const host = new ScriptedHost();
    host.isAway = true;
    const tokens = delegatedTokens({ host, clock: new ManualClock() });
    const ask = async (): Promise<unknown> => await tokens.authenticateToken("t", [], signal);
    await assert.rejects(ask, HostUnavailable);
  });
});

suite("the host's authorities", () => {
  const names = {
    "requestheader-username-headers": '["X-Remote-User","X-Also"]',
    "requestheader-allowed-names": '["front-proxy-client"]',
  };

  test("each new state counts at once; one that is broken changes nothing and is told once", async () => {
    const now = Date.UTC(2026, 0, 1);
    const validity = { notBefore: new Date(now), notAfter: new Date(now + 1_000) };
    const pem = await createAuthority(
      { name: "proxies", key: createKey() },
      { validity, random: systemRandom },
    );
    let said: Record<string, string> = { ...names, "requestheader-client-ca-file": pem };
    const log = new RecordingLog();
    const trust = new HostTrust({ host: { authentication: () => said }, log });
    const first = trust.current;
    assert.equal(trust.current.frontProxies, first.frontProxies);
    assert.deepEqual(first.names.user, ["x-remote-user", "x-also"]);
    assert.deepEqual(first.names.group, ["x-remote-group"]);
    assert.deepEqual(first.names.allowedNames, ["front-proxy-client"]);

    said = { ...said, "requestheader-allowed-names": "{" };
    assert.equal(trust.current, first);
    assert.equal(trust.current, first);
    assert.equal(log.entries.filter(({ level }) => level === "error").length, 1);

    said = { ...said, "requestheader-allowed-names": "[]" };
    assert.notEqual(trust.current, first);
    assert.deepEqual(trust.current.names.allowedNames, []);
  });

  for (const [what, data, problem] of [
    ["a list that is none", { "requestheader-allowed-names": '"a"' }, /allowed-names is no list/],
    [
      "a list of other things",
      { "requestheader-group-headers": "[1]" },
      /group-headers is no list/,
    ],
    ["what is no PEM", { "client-ca-file": "no PEM" }, /client-ca-file holds no certificates/],
  ] as const) {
    test(`at the start ${what} is refused`, () => {
      assert.throws(() => readTrust(data), BadHostTrust);
      assert.throws(() => readTrust(data), problem);
    });
  }
});
