// A host that goes and comes back, authorities that change, a server of ours that goes: who hears what.

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite } from "node:test";
import { setTimeout as wait } from "node:timers/promises";

import { createNamespace } from "../apiserver/create-namespace.ts";
import { CertificateAuthority } from "../tools/certificates.ts";
import type { HttpClient } from "../tools/http-client.ts";
import { oracleTest } from "../oracle/oracle-test.ts";
import { shownCertificate } from "../tools/shown-certificate.ts";
import { until } from "../tools/until.ts";
import { create, expectStatus, grant, newToken } from "./asking.ts";
import { startBed, type Bed } from "./bed.ts";
import { memory, pathOf } from "./objects.ts";

const memories = pathOf("memories", "default");

suite("a host in trouble", () => {
  oracleTest("nobody is let in without it, and everything heals by itself", async (t) => {
    await using bed = await startBed({ driver: "sqlite" }, t.signal);
    const { signal } = t;
    await t.test("the host is away: what it said counts for ten seconds, then 503", () =>
      hostAway(bed, signal),
    );
    await t.test("a front proxy of a new authority is believed without a restart", () =>
      rotation(bed, signal),
    );
    await t.test("API-16: a new certificate is shown, and no watch is dropped", () =>
      newCertificate(bed, signal),
    );
    await t.test("the host calls us available while we are, and only then", () =>
      availability(bed, signal),
    );
  });
});

async function hostAway(bed: Bed, signal: AbortSignal): Promise<void> {
  const { oracle, replica } = bed;
  await grant(bed, { user: "bob", verbs: ["*"] }, signal);
  const token = await newToken(bed, "away", signal);
  using bob = replica.connectAs(await oracle.issue({ name: "bob" }));
  using nobody = replica.connectAs({});
  using account = replica.connectAs({ token });
  const { certificate, key } = oracle.admin;
  using master = replica.connectAs({ certificate, key });
  const list = { path: memories };
  const askedAtMs = await until(async () => {
    const nowMs = performance.now();
    return (await bob.send(list, signal)).status === 200 && nowMs;
  }, signal);
  await expectStatus(account, list, 403, signal);
  const expectRemembered = async (client: HttpClient, status: number): Promise<void> => {
    const answer = await client.send(list, signal);
    // Where that took ten seconds it may be forgotten.
    const isForgotten = answer.status === 503 && performance.now() - askedAtMs >= 10_000;
    assert.ok(answer.status === status || isForgotten, `${answer.status} ${answer.text}`);
  };
  await using watch = openWatch(bob, `${memories}?watch=1&resourceVersion=0`);
  await until(() => watch.isOpen, signal, "an event of the watch");

  await oracle.stopProgram("kube-apiserver", "SIGKILL");
  await expectRemembered(bob, 200);
  await expectRemembered(account, 403);
  await expectStatus(master, list, 200, signal); // Nobody needs to be asked.
  await expectStatus(nobody, { path: "/livez" }, 200, signal);
  const late = await until(
    async () => {
      const answer = await bob.send(list, signal);
      assert.ok(answer.status === 200 || answer.status === 503, answer.text);
      return answer.status === 503 ? answer : undefined;
    },
    signal,
    "the answer to be forgotten",
  );
  assert.equal(late.headers["retry-after"], "1");
  await until(async () => (await account.send(list, signal)).status === 503, signal);
  await until(async () => (await nobody.send({ path: "/readyz" }, signal)).status === 500, signal);
  const { text } = await expectStatus(nobody, { path: "/readyz?verbose" }, 500, signal);
  assert.match(text, /\[\+\]database ok[\s\S]*\[-\]host failed/);
  await expectStatus(nobody, { path: "/livez" }, 200, signal);
  // Whether the namespace is still there nobody can say.
  const made = { method: "POST", path: memories, body: memory("blind") } as const;
  await expectStatus(master, made, 503, signal);

  await oracle.startProgram("kube-apiserver", signal);
  await until(async () => (await bob.send(list, signal)).status === 200, signal);
  await until(async () => (await account.send(list, signal)).status === 403, signal);
  await until(async () => (await nobody.send({ path: "/readyz" }, signal)).status === 200, signal);
  await bed.untilAvailable(signal);
  await until(
    async () => (await oracle.client.send({ path: memories }, signal)).status === 200,
    signal,
  );
  await create(bed, memories, memory("back"), signal);
  // A watch that was open all the while has heard of it.
  await until(() => watch.names.includes("back"), signal, "the watch to tell of it");
  assert.equal(watch.opened, 1);
}

/** The host's files are replaced as `kubeadm` does: it reads them again, and tells us in its ConfigMap. */
async function rotation(bed: Bed, signal: AbortSignal): Promise<void> {
  const { oracle, replica } = bed;
  const next = await CertificateAuthority.create("next-front-proxy-ca");
  const pair = await next.issue({ name: "front-proxy-client" });
  using proxy = replica.connectAs(pair);
  const headers = { "x-remote-user": "carol", "x-remote-group": "system:masters" };
  const request = { path: memories, headers };
  await expectStatus(proxy, request, 401, signal);
  const pid = replica.pid;

  const file = (name: string): string => join(oracle.folder, name);
  const both = `${readFileSync(file("front-proxy-ca.crt"), "utf8")}\n${next.certificate}`;
  writeFileSync(file("front-proxy-ca.crt"), both);
  await until(async () => (await proxy.send(request, signal)).status === 200, signal);
  writeFileSync(file("front-proxy-client.key"), pair.key);
  writeFileSync(file("front-proxy-client.crt"), pair.certificate);
  // Then the old one goes: the host forgets it once it writes its ConfigMap anew.
  writeFileSync(file("front-proxy-ca.crt"), next.certificate);
  const configMap = "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication";
  using old = replica.connectAs(await bed.frontProxy());
  await until(async () => {
    const { text } = await oracle.client.send({ path: configMap }, signal);
    // It is written again by the host, from its files, a moment later.
    if (text.split("BEGIN CERTIFICATE").length > 3) {
      await oracle.client.send({ method: "DELETE", path: configMap }, signal);
    }
    return (await old.send(request, signal)).status === 401;
  }, signal);
  await until(async () => {
    const { status } = await oracle.client.send({ path: memories }, signal);
    return status === 200;
  }, signal);
  await expectStatus(proxy, request, 200, signal);
  assert.equal(replica.pid, pid);
}

async function newCertificate(bed: Bed, signal: AbortSignal): Promise<void> {
  const { certificate, key } = bed.oracle.admin;
  using client = bed.replica.connectAs({ certificate, key });
  await using watch = openWatch(client, `${memories}?watch=1&resourceVersion=0`);
  await until(() => watch.isOpen, signal, "an event of the watch");
  const { port, ca } = bed.replica;
  const { serialNumber: before } = await shownCertificate(port, ca);
  await bed.writeServingCertificate();
  await until(async () => (await shownCertificate(port, ca)).serialNumber !== before, signal);
  await create(bed, memories, memory("after-reload"), signal);
  await until(() => watch.names.includes("after-reload"), signal, "the watch to tell of it");
  assert.equal(watch.opened, 1);
}

async function availability(bed: Bed, signal: AbortSignal): Promise<void> {
  const { oracle, replica } = bed;
  await replica.stop("SIGTERM");
  assert.match(replica.output, /"message":"stopped"/);
  await bed.untilAvailability("FailedDiscoveryCheck", signal);
  await expectStatus(oracle.client, { path: memories }, 503, signal);
  await createNamespace(bed.oracle, "meanwhile", signal);
  await expectStatus(oracle.client, { path: "/api/v1/pods" }, 200, signal);
  await replica.start(signal);
  await bed.untilAvailability("True", signal);
  // Its proxy hears of that a moment later.
  await until(
    async () => (await oracle.client.send({ path: memories }, signal)).status === 200,
    signal,
  );
  await create(bed, pathOf("memories", "meanwhile"), memory("m"), signal);
}

/** A watch that goes on until it is disposed of, and the names it has told. */
function openWatch(client: HttpClient, path: string) {
  const stop = new AbortController();
  const watch = { isOpen: false, opened: 0, names: [] as string[] };
  const reading = (async (): Promise<void> => {
    while (!stop.signal.aborted) {
      watch.opened += 1;
      for await (const { object } of client.watch(
        `${path}&allowWatchBookmarks=true`,
        stop.signal,
      )) {
        watch.isOpen = true;
        watch.names.push((object as { metadata: { name?: string } }).metadata.name ?? "");
      }
      await wait(20, undefined, { signal: stop.signal }).catch(() => undefined);
    }
  })();
  reading.catch(() => undefined); // It is told where it is disposed of.
  return Object.assign(watch, {
    [Symbol.asyncDispose]: async (): Promise<void> => {
      stop.abort();
      await reading;
    },
  });
}
