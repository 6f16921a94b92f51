// Settings and files of theirs with which nothing should start: a sentence that says which, and what to do, and nothing is touched.

import assert from "node:assert/strict";
import { readFile, readdir, writeFile } from "node:fs/promises";
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

suite("a kubeconfig of somebody else", () => {
  for (const command of ["apiserver", "up"] as const) {
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

/** How it ended before it was ready. */
async function refused(keelson: KeelsonProcess, signal: AbortSignal): Promise<Ended> {
  await assert.rejects(keelson.ready(signal), /^Error: ended with/, "it has started");
  return keelson.ended;
}
