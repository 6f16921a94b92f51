import assert from "node:assert/strict";
import { join } from "node:path";
import { cwd } from "node:process";
import { suite, test } from "node:test";
import { banner } from "./banner.ts";
import { loadSettings } from "./testing/settings.ts";

/** The commands that a banner says to try. */
async function tried(flags: Readonly<Record<string, string>>): Promise<readonly string[]> {
  const config = await loadSettings({ flags, workingFolder: cwd() });
  const shown = banner({
    config,
    addresses: {
      rest: "http://127.0.0.1:8080",
      kubernetes: "https://127.0.0.1:6443",
      kubeconfig: join(config.dataDir, "kubeconfig"),
    },
    version: "1.2.3",
    elapsedMs: 1_000,
  });
  const [, lines = ""] = /^ {2}Try {8}([^]*)^ {2}Stop /m.exec(shown) ?? [];
  return lines
    .split("\n")
    .slice(0, -1)
    .map((line) => line.trim());
}

suite("the banner", () => {
  test("says what can be typed as it stands, in the folder where the server was started", async () => {
    assert.deepEqual(await tried({}), [
      "keelson target get            # in a checkout: npm run -s keelson -- target get",
      "keelson apply -f FILE --cluster local --wait",
      "kubectl --kubeconfig .keelson/kubeconfig get namespaces",
      "curl 'http://127.0.0.1:8080/readyz?verbose'",
    ]);
  });

  test("names the data folder by which commands find the server, where it is another than usual", async () => {
    assert.deepEqual(await tried({ "data-dir": "/var/lib/keelson" }), [
      "keelson target get --data-dir /var/lib/keelson            # in a checkout: npm run -s keelson -- target get --data-dir /var/lib/keelson",
      "keelson apply -f FILE --cluster local --wait --data-dir /var/lib/keelson",
      "kubectl --kubeconfig /var/lib/keelson/kubeconfig get namespaces",
      "curl 'http://127.0.0.1:8080/readyz?verbose'",
    ]);
    const spaced = await tried({ "data-dir": "/my data" });
    assert.ok(spaced[1]?.endsWith(" --data-dir '/my data'"));
    assert.equal(spaced[2], "kubectl --kubeconfig '/my data/kubeconfig' get namespaces");
    assert.match((await tried({ "data-dir": "data" }))[1] ?? "", / --data-dir data$/);
    assert.ok((await tried({ "data-dir": "." }))[1]?.endsWith(` --data-dir ${cwd()}`));
  });

  test("asks for a token where the server does", async () => {
    const flags = { "auth-mode": "token", "tokens-file": "tokens.yaml" };
    assert.match((await tried(flags))[1] ?? "", / --wait --token TOKEN$/);
  });
});
