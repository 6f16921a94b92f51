import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { mkdtempDisposable } from "node:fs/promises";
import { connect } from "node:http2";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { suite, test } from "node:test";
import { connect as connectTls } from "node:tls";

import { noMetrics, silentLog, systemRandom, type JsonObject } from "@keelson/base";
import { ManualClock } from "@keelson/base/testing";
import { SqliteBackend, Store } from "@keelson/store";
import { parse } from "yaml";

import { issueCertificate, type KeyPair } from "./auth/pki/certificate.ts";
import { pkiPaths } from "./auth/pki/standalone-pki.ts";
import { StandaloneServer } from "./standalone.ts";

/** What every server here is started with, but for its store and its clock. */
const plainOptions = (folder: string) => ({
  random: systemRandom,
  log: silentLog,
  metrics: noMetrics,
  host: "127.0.0.1",
  port: 0,
  certDir: join(folder, "pki"),
  servingFiles: undefined,
  clientAuthorityFile: undefined,
  tokenFile: undefined,
  allowsAnonymous: true,
  kubeconfig: join(folder, "kubeconfig"),
  simulatesWorkloads: false,
});

/** A server of its own, and requests to it as anybody. Certificates are of the real time, and so is the clock. */
async function prepare(signal: AbortSignal) {
  await using undo = new AsyncDisposableStack();
  const folder = undo.adopt(
    await mkdtempDisposable(join(tmpdir(), "keelson-standalone-")),
    (made) => made.remove(),
  );
  const clock = new ManualClock({ now: Date.now() });
  const backend = new SqliteBackend({ path: ":memory:", clock });
  const store = undo.use(await Store.open({ backend, clock }, signal));
  const tokenFile = join(folder.path, "tokens.csv");
  writeFileSync(tokenFile, "secret,bob,7\n");
  const options = { ...plainOptions(folder.path), store, clock, tokenFile };
  const { certDir, kubeconfig } = options;
  const server = undo.use(await StandaloneServer.start(options, signal));
  const config = parse(readFileSync(kubeconfig, "utf8")) as {
    clusters: { cluster: Record<string, string> }[];
    users: { user: Record<string, string> }[];
  };
  const decode = (text = ""): string => Buffer.from(text, "base64").toString();
  const { server: url = "", "certificate-authority-data": authority } =
    config.clusters[0]?.cluster ?? {};
  const user = config.users[0]?.user ?? {};
  const ca = decode(authority);
  const admin: KeyPair = {
    certificate: decode(user["client-certificate-data"]),
    key: decode(user["client-key-data"]),
  };
  const sendAs =
    (identity: Partial<KeyPair> & { readonly headers?: Record<string, string | string[]> }) =>
    async (
      method: string,
      path: string,
      body?: JsonObject,
    ): Promise<readonly [number, JsonObject]> => {
      const { certificate, key, headers = {} } = identity;
      const pair = certificate === undefined || key === undefined ? {} : { cert: certificate, key };
      const session = connect(url, { ca, ...pair });
      try {
        const type = body === undefined ? {} : { "content-type": "application/json" };
        const stream = session.request({ ":method": method, ":path": path, ...type, ...headers });
        let code = 0;
        stream.on("response", (response) => (code = Number(response[":status"])));
        stream.end(body === undefined ? undefined : JSON.stringify(body));
        const chunks: Buffer[] = [];
        for await (const chunk of stream) chunks.push(chunk as Buffer);
        const text = Buffer.concat(chunks).toString();
        return [code, text.startsWith("{") ? (JSON.parse(text) as JsonObject) : { text }];
      } finally {
        session.close();
      }
    };
  const disposal = undo.move();
  return {
    clock,
    server,
    ca,
    certDir,
    admin: sendAs(admin),
    adminPair: admin,
    sendAs,
    [Symbol.asyncDispose]: () => disposal.disposeAsync(),
  };
}

const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });

suite("a standalone server", () => {
  test("knows its callers, and says who may not (API-15)", async (t) => {
    await using bed = await prepare(t.signal);
    const { admin, sendAs } = bed;
    const pods = "/api/v1/namespaces/default/pods";
    const anonymous = sendAs({});
    const outcome = async (send: typeof admin, path: string): Promise<string> => {
      const [code, body] = await send("GET", path);
      const message = typeof body["message"] === "string" ? ` ${body["message"]}` : "";
      return `${code}${message}`;
    };
    const nobody =
      '403 pods is forbidden: User "system:anonymous" cannot list resource "pods" in API group "" in the namespace "default"';
    assert.deepEqual(
      [
        await outcome(admin, pods),
        await outcome(sendAs(bearer("secret")), pods),
        await outcome(sendAs(bearer("wrong")), pods),
        await outcome(anonymous, pods),
        await outcome(
          sendAs({ headers: { "x-remote-user": "root", "x-remote-group": "system:masters" } }),
          pods,
        ),
        await outcome(anonymous, "/apis"),
        await outcome(anonymous, "/healthz"),
        await outcome(anonymous, "/version"),
      ],
      [
        "200",
        '403 pods is forbidden: User "bob" cannot list resource "pods" in API group "" in the namespace "default"',
        "401 Unauthorized",
        nobody,
        nobody,
        '403 forbidden: User "system:anonymous" cannot get path "/apis"',
        "200",
        "200",
      ],
    );
  });

  test("issues tokens that hold, lets the administrator act as others, and hands out no more than is held", async (t) => {
    await using bed = await prepare(t.signal);
    const { admin, adminPair, sendAs } = bed;
    const account = { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "bot" } };
    const accounts = "/api/v1/namespaces/default/serviceaccounts";
    assert.equal((await admin("POST", accounts, account))[0], 201);
    const [code, issued] = await admin("POST", `${accounts}/bot/token`, {
      apiVersion: "authentication.k8s.io/v1",
      kind: "TokenRequest",
      spec: {},
    });
    assert.equal(code, 201);
    const { token } = issued["status"] as { token: string };
    const review = { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" };
    const whoAmI = async (send: typeof admin): Promise<unknown> => {
      const [, body] = await send(
        "POST",
        "/apis/authentication.k8s.io/v1/selfsubjectreviews",
        review,
      );
      const { userInfo } = (body["status"] ?? {}) as { userInfo?: JsonObject };
      return userInfo?.["username"] ?? body["code"];
    };
    const bot = sendAs(bearer(token));
    assert.equal(await whoAmI(bot), "system:serviceaccount:default:bot");
    const headers = { "impersonate-user": "eve", "impersonate-group": ["a", "b, c"] };
    assert.equal(await whoAmI(sendAs({ ...adminPair, headers })), "eve");

    const group = "rbac.authorization.k8s.io";
    const type = { apiVersion: `${group}/v1` };
    const rules = [{ verbs: ["create"], apiGroups: [group], resources: ["clusterroles"] }];
    await admin("POST", `/apis/${group}/v1/clusterroles`, {
      ...type,
      kind: "ClusterRole",
      metadata: { name: "bot" },
      rules,
    });
    await admin("POST", `/apis/${group}/v1/clusterrolebindings`, {
      ...type,
      kind: "ClusterRoleBinding",
      metadata: { name: "bot" },
      roleRef: { apiGroup: group, kind: "ClusterRole", name: "bot" },
      subjects: [{ kind: "ServiceAccount", name: "bot", namespace: "default" }],
    });
    const grant = async (verb: string): Promise<number> => {
      const [granted] = await bot("POST", `/apis/${group}/v1/clusterroles?dryRun=All`, {
        ...type,
        kind: "ClusterRole",
        metadata: { name: "more" },
        rules: [{ ...rules[0], verbs: [verb] }],
      });
      return granted;
    };
    // The authoriser follows the store by a watch.
    for (;;) {
      const path = `/apis/${group}/v1/clusterroles?dryRun=All`;
      const [may] = await bot("POST", path, {
        ...type,
        kind: "ClusterRole",
        metadata: { name: "x" },
        rules: [],
      });
      if (may === 201) break;
    }
    assert.deepEqual([await grant("create"), await grant("delete")], [201, 403]);

    await admin("DELETE", `${accounts}/bot`);
    for (;;) if ((await whoAmI(bot)) === 401) break;
  });

  test("lets the other parts of its process in, each by its name and nobody by a guess", async (t) => {
    await using bed = await prepare(t.signal);
    const { server, sendAs } = bed;
    const review = { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" };
    const path = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
    const [fleet, operator] = [server.accessFor("fleet"), server.accessFor("operator")];
    const seen = [];
    for (const { token } of [fleet, operator, { token: `${fleet.token}x` }]) {
      const [code, body] = await sendAs(bearer(token))("POST", path, review);
      const { userInfo } = (body["status"] ?? {}) as { userInfo?: JsonObject };
      seen.push([code, userInfo?.["username"], userInfo?.["groups"]]);
    }
    const groups = ["system:masters", "system:authenticated"];
    assert.deepEqual(seen, [
      [201, "system:keelson:fleet", groups],
      [201, "system:keelson:operator", groups],
      [401, undefined, undefined],
    ]);
    assert.deepEqual([fleet.server, fleet.ca], [server.url, bed.ca]);
  });

  test("ends its start at whatever moment it is told to, and leaves nothing running", async (t) => {
    await using folder = await mkdtempDisposable(join(tmpdir(), "keelson-standalone-"));
    const outcomes = new Set<string>();
    // Until a start is through before it is told: then every moment had its turn.
    for (let turns = 0; !outcomes.has("through"); turns += 1 + Math.floor(turns / 8)) {
      const clock = new ManualClock({ now: Date.now() });
      const backend = new SqliteBackend({ path: ":memory:", clock });
      await using store = await Store.open({ backend, clock }, t.signal);
      const told = new AbortController();
      const options = { ...plainOptions(folder.path), store, clock };
      const starting = StandaloneServer.start(options, told.signal).then(
        async (server) => {
          const outcome = told.signal.aborted ? "through meanwhile" : "through";
          await server[Symbol.asyncDispose]();
          return outcome;
        },
        (error: unknown) => (error === told.signal.reason ? "told" : String(error)),
      );
      for (let turn = 0; turn < turns; turn++) await new Promise(setImmediate);
      told.abort();
      outcomes.add(await starting);
    }
    outcomes.delete("through meanwhile");
    assert.deepEqual([...outcomes].toSorted(), ["through", "told"]);
  });

  test("shows a certificate that was replaced on disk to new connections within a minute (API-16)", async (t) => {
    await using bed = await prepare(t.signal);
    const { clock, certDir, server, ca, admin } = bed;
    const paths = pkiPaths(certDir);
    const read = (path: string): string => readFileSync(path, "utf8");
    const authority = {
      certificate: read(paths.authority.certificate),
      key: read(paths.authority.key),
    };
    const validity = {
      notBefore: new Date(clock.now() - 1000),
      notAfter: new Date(clock.now() + 1e6),
    };
    const next = await issueCertificate(
      authority,
      { name: "replaced", hosts: ["127.0.0.1"] },
      { validity, random: systemRandom },
    );
    writeFileSync(paths.serving.key, next.key);
    writeFileSync(paths.serving.certificate, next.certificate);
    const port = Number(new URL(server.url).port);
    const shown = async (): Promise<string> => {
      const socket = connectTls({ port, host: "127.0.0.1", ca, ALPNProtocols: ["h2"] });
      try {
        await new Promise<void>((resolve, reject) => {
          socket.once("secureConnect", resolve).once("error", reject);
        });
        return String(socket.getPeerCertificate().subject.CN);
      } finally {
        socket.destroy();
      }
    };
    await clock.advance(60_000);
    while ((await shown()) !== "replaced");
    assert.equal((await admin("GET", "/version"))[0], 200);
  });
});
