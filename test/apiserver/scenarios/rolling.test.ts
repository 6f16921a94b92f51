// Changes that nobody should notice: replicas restarted one after the other (FAULT-6), a certificate replaced (API-16).

import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { suite, test, type TestContext } from "node:test";
import { setTimeout as wait } from "node:timers/promises";

import { startThrowawayPostgres } from "@keelson/database/testing";

import { CertificateAuthority } from "../../tools/certificates.ts";
import { shownCertificate } from "../../tools/shown-certificate.ts";
import { until } from "../../tools/until.ts";
import { configMap } from "../objects.ts";
import { drivers, startOurs, type Driver, type Ours } from "../ours.ts";
import { concurrency, measure } from "./length.ts";
import { Service } from "./service.ts";
import { openStream } from "./stream.ts";

const path = "/api/v1/namespaces/default/configmaps";
const writesPerSecond = 100;
const patienceMs = 60_000;

suite("what nobody should notice", { concurrency }, () => {
  test("FAULT-6 two replicas restarted in turn at 100 writes a second: no write refused for good, no event lost, watches told to go", async (t) => {
    const rolls = measure({ gate: 1, full: 20 });
    await using postgres = await startThrowawayPostgres({ flavour: "embedded" }, t.signal);
    await using database = await postgres.createDatabase();
    await using undo = new AsyncDisposableStack();
    const certDir = mkdtempSync(join(tmpdir(), "keelson-replicas-"));
    undo.defer(() => rmSync(certDir, { recursive: true, force: true }));
    const authority = await CertificateAuthority.create("replicas");
    const options = {
      driver: "postgresql",
      databaseUrl: database.url,
      certDir,
      authority,
    } as const;
    const replicas: Ours[] = [];
    for (let index = 0; index < 2; index += 1)
      replicas.push(undo.use(await startOurs(options, t.signal)));
    using service = new Service(replicas);
    const from = await service.revisionOf(path, t.signal);

    const over = new AbortController();
    const signal = AbortSignal.any([t.signal, over.signal]);
    const watchers = Array.from({ length: 6 }, (_, index) =>
      service.follow(path, { from, first: index % 2, over: over.signal }, signal),
    );
    for (const one of watchers) one.catch(() => undefined); // All are awaited below.
    const acknowledged: { readonly name: string; readonly at: number; readonly ms: number }[] = [];
    const sent: Promise<void>[] = [];
    const stop = new AbortController();
    const writing = (async () => {
      const began = performance.now();
      for (let index = 0; !stop.signal.aborted; index += 1) {
        const dueMs = began + (index * 1_000) / writesPerSecond - performance.now();
        if (dueMs > 0) await wait(dueMs);
        const name = `w-${index}`;
        const at = performance.now();
        const one = service.create(path, configMap(name), signal).then(() => {
          const now = performance.now();
          acknowledged.push({ name, at: now, ms: now - at });
        });
        one.catch(() => undefined); // All are awaited below.
        sent.push(one);
      }
      await Promise.all(sent);
    })();
    undo.defer(async () => {
      stop.abort();
      over.abort();
      await Promise.allSettled([writing, ...watchers]);
    });
    await until(() => acknowledged.length > 50, t.signal);
    for (let roll = 0; roll < rolls; roll += 1) {
      for (const [index, replica] of replicas.entries()) {
        const began = performance.now();
        assert.equal(await replica.stop("SIGTERM"), 0, replica.output.slice(-2_000));
        t.diagnostic(`replica ${index} was gone after ${Math.round(performance.now() - began)} ms`);
        const before = acknowledged.length;
        await until(() => acknowledged.length > before + 20, t.signal);
        await replica.start(t.signal);
        await until(() => acknowledged.length > before + 60, t.signal);
      }
    }
    stop.abort();
    await writing;
    service.last = Number(await service.revisionOf(path, t.signal));
    const streams = await Promise.all(watchers);
    over.abort();

    const gaps = acknowledged.map(({ at }, index) => at - (acknowledged[index - 1]?.at ?? at));
    const slowest = Math.max(...acknowledged.map(({ ms }) => ms));
    t.diagnostic(`${acknowledged.length} writes, ${2 * rolls} restarts`);
    t.diagnostic(`longest time without a write: ${Math.round(Math.max(...gaps))} ms`);
    t.diagnostic(`slowest write, tries included: ${Math.round(slowest)} ms`);
    const names = acknowledged.map(({ name }) => name).sort();
    for (const { events, ends } of streams) {
      const revisions = events.map(({ revision }) => revision);
      assert.ok(
        revisions.every((revision, index) => revision > (revisions[index - 1] ?? 0)),
        "events out of order",
      );
      assert.deepEqual(
        events.map(({ type, name }) => `${type} ${name}`).sort(),
        names.map((name) => `ADDED ${name}`),
      );
      // Each was at a replica that stopped at least once, and was told so in order.
      assert.ok(ends.length >= rolls, `it ended ${ends.length} times`);
      assert.deepEqual(new Set(ends), new Set(["in order"]));
    }
  });

  test("API-16 a certificate replaced on disk is shown to new connections, no watch is dropped, on both backends", async (t) => {
    // At once: how often a server looks at its files is what takes the time.
    await Promise.all(drivers.map((driver) => replaceCertificate(driver, t)));
  });
});

async function replaceCertificate(driver: Driver, t: TestContext): Promise<void> {
  await using undo = new AsyncDisposableStack();
  const folder = mkdtempSync(join(tmpdir(), "keelson-serving-"));
  undo.defer(() => rmSync(folder, { recursive: true, force: true }));
  const authority = await CertificateAuthority.create("serving");
  const [certificate, key] = [join(folder, "tls.crt"), join(folder, "tls.key")];
  const replace = async (name: string): Promise<void> => {
    const pair = await authority.issue({ name, hosts: ["127.0.0.1", "localhost"] });
    writeFileSync(key, pair.key, { mode: 0o600 });
    writeFileSync(certificate, pair.certificate);
  };
  await replace("first");
  const flags = ["--tls-cert-file", certificate, "--tls-private-key-file", key];
  const servingCa = authority.certificate;
  const server = undo.use(await startOurs({ driver, flags, servingCa }, t.signal));
  const { pid } = server;
  using stream = await openStream(server, `${path}?watch=1&resourceVersion=0`, t.signal);
  await stream.take(1, t.signal);
  const port = Number(new URL(server.url).port);
  assert.equal(await shownName(port, servingCa), "first");
  const began = performance.now();
  await replace("second");
  await until(
    async () => (await shownName(port, servingCa)) === "second",
    AbortSignal.any([t.signal, AbortSignal.timeout(2 * patienceMs)]),
  );
  t.diagnostic(`${driver}: shown after ${Math.round(performance.now() - began)} ms`);
  const { status, text } = await server.client.send(
    { method: "POST", path, body: configMap("after") },
    t.signal,
  );
  assert.equal(status, 201, text);
  assert.equal((await stream.next(t.signal))?.name, "after");
  assert.equal(server.pid, pid);
}

/** The name in the certificate that a new connection is shown. */
async function shownName(port: number, ca: string): Promise<string> {
  return String((await shownCertificate(port, ca)).subject.CN);
}
