import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { suite, test, type TestContext } from "node:test";
import { systemClock } from "@keelson/base";
import { openDatabase, statement } from "@keelson/database";
import { patience, sharedThrowawayPostgres } from "@keelson/database/testing";
import { migratePostgres } from "@keelson/store";
import { writeRunFile } from "../../run-file.ts";
import { loadSettings } from "../../testing/settings.ts";
import { CommandError } from "../command-error.ts";
import type { CommandContext } from "../command-context.ts";
import type { Output } from "../output/formats.ts";
import { doctor } from "./doctor.ts";
import type { Finding } from "./finding.ts";

const script = statement<string>("script", (sql, text) => sql.unsafe<object[]>(text).simple());
const freePorts = { port: "0", "kube-port": "0", "metrics-port": "0" };

interface Patient {
  readonly flags?: Readonly<Record<string, string>>;
  readonly environment?: Readonly<Record<string, string>>;
  readonly output?: Output;
  readonly nowMs?: number;
}

/** Examines a folder; gives what was printed, and the exit code. */
async function examined(t: TestContext, folder: string, patient: Patient = {}) {
  const { flags = {}, environment = {}, output = "json", nowMs = systemClock.now() } = patient;
  let out = "";
  const context: CommandContext = {
    environment: { PATH: process.env["PATH"] ?? "", ...environment },
    workingFolder: folder,
    clock: { ...systemClock, now: () => nowMs },
    isWatched: false,
    openTerminal: () => ({
      write: (text) => {
        out += text;
      },
      note: (line) => assert.fail(line),
      hasColours: false,
      readInput: () => assert.fail("nothing is to be read"),
    }),
    run: (work) => work(t.signal),
    exit: () => assert.fail("it is not to exit"),
  };
  const readConfig = () =>
    loadSettings({
      flags: { ...freePorts, ...flags },
      environment,
      workingFolder: folder,
    });
  try {
    await doctor(context, { output, readConfig }, t.signal);
    return { code: 0, out };
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    assert.equal(error.message, "");
    return { code: error.exitCode, out };
  }
}

/** The same, by what was looked at. */
async function findingsOf(t: TestContext, folder: string, patient: Patient = {}) {
  const { code, out } = await examined(t, folder, patient);
  const { findings } = JSON.parse(out) as { readonly findings: readonly Finding[] };
  const of = (check: string): Finding => {
    const found = findings.find((one) => one.check === check);
    assert.ok(found !== undefined, `${check} is not in ${out}`);
    return found;
  };
  const wrong = findings.filter(({ state }) => state === "failed").map(({ check }) => check);
  return { code, of, wrong, findings };
}

suite("keelson doctor", () => {
  async function folderFor(t: TestContext): Promise<string> {
    const folder = await mkdtemp(join(tmpdir(), "keelson-doctor-"));
    t.after(() => rm(folder, { recursive: true }));
    return folder;
  }

  test("finds nothing wrong with a fresh folder, and says what it has seen", async (t) => {
    const folder = await folderFor(t);
    const { code, of, wrong } = await findingsOf(t, folder);
    assert.deepEqual([code, wrong], [0, []]);
    assert.match(of("Node").found, /^24\./);
    assert.equal(of("data folder").found, `${folder}/.keelson, made at the first start`);
    assert.match(of("embedded PostgreSQL").found, /^18\..*, no data yet$/);
    assert.equal(of("port of the REST API").found, "any free one");
    assert.equal(of("port of PostgreSQL").found, "any free one");
    assert.match((await examined(t, folder, { output: "table" })).out, /^STATE +CHECK +FOUND\nok /);
  });

  test("names what is wrong with settings, all of it, and looks no further", async (t) => {
    const environment = { KEELSON_PROT: "1", KEELSON_LOG_LEVEL: "loud" };
    const { code, wrong, findings } = await findingsOf(t, await folderFor(t), { environment });
    assert.deepEqual([code, wrong], [1, ["settings", "settings"]]);
    assert.ok(findings.every(({ state, fix }) => state !== "failed" || fix !== null));
    assert.ok(findings.every(({ check }) => !check.startsWith("port")));
  });

  test("tells once what mends several things, and of a guess what it is for", async (t) => {
    const environment = { KEELSON_PROT: "1", KEELSON_LOG_LEVEL: "loud", KEELSON_LOG_FORMAT: "x" };
    const patient = { environment, output: "table" } as const;
    const { out } = await examined(t, await folderFor(t), patient);
    assert.deepEqual(out.split("\n\n")[1]?.trimEnd().split("\n"), [
      "settings: KEELSON_PROT: did you mean KEELSON_PORT?",
      "settings: docs/reference/settings.md tells what each takes",
    ]);
  });

  test("looks for the files that settings name", async (t) => {
    const folder = await folderFor(t);
    await writeFile(join(folder, "tokens"), "");
    const flags = { "token-auth-file": "tokens", "tls-cert-file": "gone", "tls-key-file": "." };
    const { code, of, wrong } = await findingsOf(t, folder, { flags });
    assert.deepEqual([code, wrong], [1, ["file of --tls-cert-file", "file of --tls-key-file"]]);
    assert.deepEqual(
      [of("file of --tls-cert-file").found, of("file of --tls-key-file").found],
      [`${folder}/gone cannot be read (ENOENT)`, `${folder} is a folder`],
    );
    assert.equal(of("file of --token-auth-file").found, join(folder, "tokens"));
  });

  for (const [check, flag] of [
    ["port of the REST API", "port"],
    ["port of PostgreSQL", "database-port"],
  ] as const) {
    test(`says who has the ${check}`, async (t) => {
      const server = createServer().listen(0, "127.0.0.1");
      await once(server, "listening");
      t.after(() => server.close());
      const { port } = server.address() as AddressInfo;
      const flags = { [flag]: String(port) };
      const { code, of, wrong } = await findingsOf(t, await folderFor(t), { flags });
      assert.deepEqual([code, wrong], [1, [check]]);
      const { found, fix } = of(check);
      const place = `127.0.0.1:${port} is taken`;
      const holder = process.platform === "linux" ? ` by process ${process.pid} (node)` : "";
      assert.ok(found.startsWith(`${place}${holder}`), found);
      assert.match(fix ?? "", new RegExp(` --${flag},`));
    });
  }

  test("asks for no port of a PostgreSQL that is not ours", async (t) => {
    const flags = { "database-url": "postgres://127.0.0.1:1/keelson", "database-port": "1" };
    const { findings } = await findingsOf(t, await folderFor(t), { flags });
    assert.ok(findings.every(({ check }) => check !== "port of PostgreSQL"));
  });

  test("sees a data folder that is none, and data of another PostgreSQL", async (t) => {
    const folder = await folderFor(t);
    await writeFile(join(folder, "file"), "");
    const flags = { "data-dir": "file" };
    assert.deepEqual((await findingsOf(t, folder, { flags })).wrong, ["data folder"]);
    await symlink(join(folder, "unmounted"), join(folder, "link"));
    for (const [path, found, place] of [
      ["file/below", "is below a file", "file"],
      ["link", "is a link that leads nowhere", "link"],
      ["link/below", "is below a link that leads nowhere", "link"],
    ] as const) {
      const one = await findingsOf(t, folder, { flags: { "data-dir": path } });
      assert.deepEqual(one.of("data folder"), {
        check: "data folder",
        state: "failed",
        found: `${join(folder, path)} ${found}`,
        fix: `move ${join(folder, place)} away, or choose another with --data-dir`,
      });
    }
    await mkdir(join(folder, ".keelson/postgres"), { recursive: true });
    await writeFile(join(folder, ".keelson/postgres/PG_VERSION"), "12\n");
    const { of, wrong } = await findingsOf(t, folder);
    assert.deepEqual(wrong, ["embedded PostgreSQL"]);
    assert.match(of("embedded PostgreSQL").found, /is of version 12$/);
  });

  test("says why the server that runs does not answer", async (t) => {
    const folder = await folderFor(t);
    const dataDir = join(folder, ".keelson");
    await mkdir(dataDir);
    await using _runFile = await writeRunFile(dataDir, {
      rest: "http://127.0.0.1:2",
      startedAt: "2026-01-01T00:00:00Z",
      version: "0",
    });
    const { of } = await findingsOf(t, folder);
    assert.deepEqual(of("server"), {
      check: "server",
      state: "warning",
      found: "http://127.0.0.1:2 does not answer (connection refused)",
      fix: "its log says more",
    });
  });

  // A folder cannot be read by anybody, not even by root, who may read what belongs to others.
  test("does not take for absent what it may not read", async (t) => {
    const folder = await folderFor(t);
    const dataDir = join(folder, ".keelson");
    await mkdir(join(dataDir, "run.json"), { recursive: true });
    await mkdir(join(dataDir, "postgres/PG_VERSION"), { recursive: true });
    await mkdir(join(dataDir, "kubeconfig"));
    const { of, wrong } = await findingsOf(t, folder);
    assert.deepEqual(of("server"), {
      check: "server",
      state: "warning",
      found: `${dataDir}/run.json cannot be read (EISDIR)`,
      fix: "ask as the user who runs the server",
    });
    assert.deepEqual(wrong, ["embedded PostgreSQL", "kubeconfig"]);
    assert.deepEqual(of("kubeconfig"), {
      check: "kubeconfig",
      state: "failed",
      found: `${dataDir}/kubeconfig is a folder`,
      fix: "let this user read it, or name another path with --kubeconfig",
    });
    const { found } = of("embedded PostgreSQL");
    assert.equal(found, `${dataDir}/postgres/PG_VERSION cannot be read (EISDIR)`);
  });

  test("sees a PostgreSQL that does not answer, and keeps its password to itself", async (t) => {
    const flags = { "database-url": "postgres://me:hidden@127.0.0.1:1/keelson" };
    const folder = await folderFor(t);
    const { code, out } = await examined(t, folder, { flags });
    assert.equal(code, 1);
    assert.match(out, /"check": "PostgreSQL",\n *"state": "failed"/);
    assert.doesNotMatch(out, /hidden/);
  });

  test("sees a user that may not make schemas, where they are not there", async (t) => {
    const folder = await folderFor(t);
    await using database = await (await sharedThrowawayPostgres("embedded")).createDatabase();
    await using admin = openDatabase({ url: database.url, name: "test", ...patience });
    const role = `doctor_${process.pid}`;
    const run = (text: string): Promise<unknown> => admin.run(script, text, t.signal);
    await run(`CREATE ROLE ${role} LOGIN PASSWORD 'hidden'`);
    const own = new URL(database.url);
    own.username = role;
    own.password = "hidden";
    try {
      const flags = { "database-url": own.href };
      const { code, of, wrong } = await findingsOf(t, folder, { flags });
      assert.deepEqual([code, wrong], [1, ["PostgreSQL"]]);
      const { found, fix } = of("PostgreSQL");
      assert.match(found, new RegExp(`user ${role} may not make schemas in ${database.name}$`));
      assert.match(fix ?? "", new RegExp(`ALTER DATABASE ${database.name} OWNER TO ${role}`));
      await run(`GRANT CREATE ON DATABASE ${database.name} TO ${role}`);
      const granted = await findingsOf(t, folder, { flags });
      assert.deepEqual([granted.code, granted.of("PostgreSQL").state], [0, "ok"]);
      const left = { "database-url": own.href, "auto-migrate": "false" };
      const { state, fix: start } = (await findingsOf(t, folder, { flags: left })).of("PostgreSQL");
      assert.equal(state, "warning");
      assert.match(start ?? "", /start one replica without --auto-migrate=false/);
    } finally {
      await run(`DROP OWNED BY ${role}; DROP ROLE ${role}`);
    }
  });

  test("looks at the PostgreSQL of the store, and whether it is migrated", async (t) => {
    const folder = await folderFor(t);
    const server = await sharedThrowawayPostgres("embedded");
    await using database = await server.createDatabase();
    const { username, password } = new URL(database.url);
    const found = async (flags: Readonly<Record<string, string>>) => {
      const all = {
        "storage-driver": "postgresql",
        "postgres-host": "127.0.0.1",
        "postgres-sslmode": "disable",
        "postgres-port": String(server.port),
        "postgres-database": database.name,
        "postgres-username": username,
        ...flags,
      };
      const environment = "postgres-password-file" in flags ? {} : { POSTGRES_PASSWORD: password };
      const one = await findingsOf(t, folder, { flags: all, environment });
      return one.of("PostgreSQL of the store");
    };
    const place = `${database.name} at 127.0.0.1:${server.port}`;
    const away = await found({ "postgres-port": "1" });
    assert.match(away.found, /does not answer \(ECONNREFUSED\)$/);
    assert.equal(away.state, "failed");
    assert.match((await found({ "postgres-password-file": "gone" })).found, /gone cannot be read/);
    const empty = await found({});
    assert.match(empty.found, new RegExp(`${place}, and schema ark holds no store yet$`));
    assert.equal(empty.state, "warning");
    assert.match(empty.fix ?? "", /"keelson apiserver migrate"/);
    await migratePostgres({ url: database.url, schema: "ark" });
    const migrated = await found({});
    assert.match(migrated.found, new RegExp(`^18\\..* ${place}, schema ark at version \\d+$`));
    assert.equal(migrated.state, "ok");
  });

  test("reads the kubeconfig of each target", async (t) => {
    const folder = await folderFor(t);
    const targets = ["good", "gone"].map(
      (name) => `  - {cluster_id: ${name}, kubeconfig: ${name}}`,
    );
    await writeFile(join(folder, "keelson.config.yaml"), ["targets:", ...targets, ""].join("\n"));
    const parts = {
      clusters: [{ name: "c", cluster: { server: "https://one.example:6443" } }],
      users: [{ name: "u", user: { token: "t" } }],
      contexts: [{ name: "x", context: { cluster: "c", user: "u" } }],
    };
    const kubeconfig = { apiVersion: "v1", kind: "Config", ...parts, "current-context": "x" };
    await writeFile(join(folder, "good"), JSON.stringify(kubeconfig));
    const { of, wrong } = await findingsOf(t, folder);
    assert.deepEqual(wrong, ["kubeconfig of target gone"]);
    assert.match(of("kubeconfig of target good").found, /leads to https:\/\/one\.example:6443$/);
  });

  test("sees a clock that is before the installation, and does without kubectl", async (t) => {
    const environment = { PATH: "/nowhere" };
    const patient = { environment, nowMs: Date.parse("2001-01-01T00:00:00Z") };
    const { of, wrong } = await findingsOf(t, await folderFor(t), patient);
    assert.deepEqual(wrong, ["clock"]);
    assert.equal(of("kubectl").state, "warning");
  });
});
