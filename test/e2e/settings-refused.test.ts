// Settings and files of theirs with which nothing should start: a sentence that says which, and what to do, and nothing is touched.

import assert from "node:assert/strict";
import { mkdir, readFile, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { suite, test } from "node:test";
import {
  KeelsonProcess,
  temporaryFolder,
  type Ended,
  type StartOptions,
} from "./keelson-process.ts";

const others = `
apiVersion: v1
kind: Config
clusters: [{ name: prod, cluster: { server: "https://prod.example.com" } }]
users: [{ name: alice, user: { token: the-only-one } }]
contexts: [{ name: prod, context: { cluster: prod, user: alice } }]
current-context: prod
`;

const commands = ["apiserver", "up"] as const;

suite("a kubeconfig of somebody else", () => {
  for (const command of commands) {
    for (const way of ["flag", "variable"] as const) {
      test(`is not written over by ${command}, named by a ${way}`, async (t) => {
        await using folder = await temporaryFolder();
        const dataDir = join(folder.path, "data");
        const kubeconfig = join(folder.path, "config");
        await writeFile(kubeconfig, others);
        const options: StartOptions =
          way === "flag"
            ? { flags: ["--kubeconfig", kubeconfig] }
            : { environment: { KEELSON_KUBECONFIG: kubeconfig } };
        await using keelson = new KeelsonProcess(dataDir, { command, ...options });
        const { code, output } = await refused(keelson, t.signal);
        assert.equal(
          output,
          `keelson: ${kubeconfig} is a kubeconfig of somebody else: it names the cluster prod, the user alice: to serve behind that cluster use keelson apiserver --aggregated; else name another path for our kubeconfig with --kubeconfig\n`,
        );
        assert.equal(code, 2);
        assert.equal(await readFile(kubeconfig, "utf8"), others);
        assert.deepEqual(await readdir(folder.path), ["config"], "nothing was begun");
      });
    }
  }

  test("is one of ours that got something besides; ours alone is replaced", async (t) => {
    await using folder = await temporaryFolder();
    const start = (): KeelsonProcess => new KeelsonProcess(folder.path, { command: "apiserver" });
    await using first = start();
    const { kubeconfig = "" } = await first.ready(t.signal);
    await first.stop();
    const ours = await readFile(kubeconfig, "utf8");
    await using second = start();
    await second.ready(t.signal);
    await second.stop();
    assert.notEqual(await readFile(kubeconfig, "utf8"), ours, "the port is another");
    const merged = ours.replace("users:\n", "users:\n  - name: alice\n    user: { token: x }\n");
    await writeFile(kubeconfig, merged);
    await using third = start();
    const { code, output } = await refused(third, t.signal);
    assert.equal(code, 2, output);
    assert.match(output, /names the user alice: /);
    assert.equal(await readFile(kubeconfig, "utf8"), merged);
  });
});

suite("a file that cannot be used is a sentence with its path, its flag and what to do", () => {
  const cases: readonly (readonly [
    what: string,
    flags: (folder: string) => readonly string[],
    said: (folder: string) => string,
  ])[] = [
    [
      "no token file",
      (at) => ["--token-auth-file", `${at}/none`],
      (at) =>
        `${at}/none cannot be read (ENOENT): mend it, or name another file with --token-auth-file`,
    ],
    [
      "a token file that is a folder",
      (at) => ["--token-auth-file", at],
      (at) => `${at} cannot be read (EISDIR): mend it, or name another file with --token-auth-file`,
    ],
    [
      "a token file with too few columns",
      (at) => ["--token-auth-file", `${at}/wrong`],
      (at) =>
        `${at}/wrong cannot be used: record 1 must have token, user and uid, not 2 columns: mend it, or name another file with --token-auth-file`,
    ],
    [
      "an authority without its key",
      (at) => ["--cert-dir", `${at}/pki`],
      (at) =>
        `${at}/pki/ca.crt has no key: ${at}/pki/ca.key is missing: bring the files back, or name another folder with --cert-dir, for new keys with which what the old ones signed is refused`,
    ],
    [
      "a folder of certificates that is a file",
      (at) => ["--cert-dir", `${at}/wrong`],
      (at) =>
        `${at}/wrong cannot be used (ENOTDIR): bring the files back, or name another folder with --cert-dir, for new keys with which what the old ones signed is refused`,
    ],
    [
      "a kubeconfig in a folder that is a file",
      (at) => ["--kubeconfig", `${at}/wrong/kubeconfig`],
      (at) =>
        `${at}/wrong/kubeconfig cannot be read (ENOTDIR): name another path for our kubeconfig with --kubeconfig`,
    ],
    [
      "a SQLite file in no folder",
      (at) => ["--sqlite-path", `${at}/none/ark.db`],
      (at) =>
        `${at}/none/ark.db cannot be used (ENOENT): make its folder, or name another file with --sqlite-path`,
    ],
    [
      "no file with the password",
      (at) => [
        "--storage-driver=postgresql",
        "--postgres-host=127.0.0.1",
        `--postgres-password-file=${at}/none`,
      ],
      (at) =>
        `${at}/none cannot be read (ENOENT): name the file with the password of PostgreSQL with --postgres-password-file`,
    ],
  ];
  for (const [what, flags, said] of cases) {
    // The same road for all of them: of `up` one shows that it is there.
    for (const command of what === "no token file" ? commands : (["apiserver"] as const)) {
      test(`${what}: ${command}`, async (t) => {
        await using folder = await temporaryFolder();
        await writeFile(join(folder.path, "wrong"), "token,user\n");
        await mkdir(join(folder.path, "pki"));
        await writeFile(join(folder.path, "pki", "ca.crt"), "");
        await using keelson = new KeelsonProcess(join(folder.path, "data"), {
          command,
          flags: [...flags(folder.path), "--log-level", "error"],
        });
        const { code, output } = await refused(keelson, t.signal);
        const lines = output.split("\n").filter((line) => !line.startsWith("…"));
        assert.deepEqual([lines, code], [[`keelson: ${said(folder.path)}`, ""], 2]);
      });
    }
  }
});

suite("a file that cannot be used is told before anything is begun", () => {
  const tls = ["--tls-cert-file=NONE", "--tls-key-file=NONE"];
  // Were it asked for, it would be waited for.
  const database = "--database-url=postgres://127.0.0.1:9/none";
  const cases: readonly (readonly [
    NonNullable<StartOptions["command"]>,
    readonly string[],
    string,
  ])[] = [
    ["up", tls, "--tls-cert-file"],
    ["up", ["--auth-mode=token", "--tokens-file=NONE"], "--tokens-file"],
    ["up", ["--token-auth-file=NONE"], "--token-auth-file"],
    ["up", ["--client-ca-file=NONE"], "--client-ca-file"],
    ["serve", ["--roles=rest", ...tls], "--tls-cert-file"],
    ["apiserver", ["--storage-driver=postgresql", ...tls], "--tls-cert-file"],
    ["apiserver", ["--storage-driver=postgresql", "--client-ca-file=NONE"], "--client-ca-file"],
  ];
  for (const [command, flags, named] of cases) {
    test(`${command} ${flags.join(" ")}`, async (t) => {
      await using folder = await temporaryFolder();
      const none = join(folder.path, "none");
      const given = [...flags.map((flag) => flag.replace("NONE", none)), database];
      const dataDir = join(folder.path, "data");
      await using keelson = new KeelsonProcess(dataDir, {
        command,
        flags: given,
        environment: { KEELSON_ENCRYPTION_KEY: Buffer.alloc(32, 1).toString("base64") },
      });
      const { code, output } = await refused(keelson, t.signal);
      assert.ok(output.includes(`${none} cannot be read (ENOENT)`), output);
      assert.ok(output.includes(named), output);
      assert.equal(code, 2);
      assert.deepEqual(await readdir(folder.path), [], "nothing was begun");
    });
  }
});

/** How it ended before it was ready. */
async function refused(keelson: KeelsonProcess, signal: AbortSignal): Promise<Ended> {
  await assert.rejects(keelson.ready(signal), /^Error: ended with/, "it has started");
  return keelson.ended;
}
