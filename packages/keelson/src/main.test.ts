import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { open } from "node:fs/promises";
import { text } from "node:stream/consumers";
import { suite, test } from "node:test";
import { fileURLToPath } from "node:url";

const root = new URL("../../../", import.meta.url);
const entry = fileURLToPath(new URL("packages/keelson/bin/keelson.js", root));

/** Names every module as it is loaded, on standard output, before anything else is said. */
const hook = `data:text/javascript,${encodeURIComponent(`
import { registerHooks } from "node:module";
import { writeSync } from "node:fs";
registerHooks({
  load: (url, context, next) => {
    if (url.startsWith("file:")) writeSync(1, "loaded " + url + "\\n");
    return next(url, context);
  },
});`)}`;

/** The modules of ours that a command loads, and the packages of others. */
function loadedBy(...words: readonly string[]): readonly string[] {
  const shown = execFileSync(process.execPath, ["--import", hook, entry, ...words], {
    encoding: "utf8",
    env: { PATH: process.env["PATH"] ?? "" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const files = [...shown.matchAll(/^loaded (.*)$/gm)].map(([, url = ""]) =>
    url.replace(root.href, "").replace("packages/keelson/", ""),
  );
  return [...new Set(files.map((file) => file.replace(/^(node_modules\/[^/]+).*/, "$1")))];
}

suite("what is loaded", () => {
  test("version loads nothing that it does not print", () => {
    assert.deepEqual(loadedBy("version"), ["bin/keelson.js", "src/main.ts", "src/version.ts"]);
  });

  test("help loads the words of commands, and none of what they do", () => {
    assert.deepEqual(loadedBy("--help").toSorted(), [
      "bin/keelson.js",
      "node_modules/commander",
      "src/commands/catalog.ts",
      "src/commands/command-error.ts",
      "src/commands/command-line.ts",
      "src/commands/interrupted.ts",
      "src/commands/report.ts",
      "src/commands/usage-sentence.ts",
      "src/config/closest.ts",
      "src/config/config-error.ts",
      "src/main.ts",
      "src/start-error.ts",
      "src/version.ts",
    ]);
  });

  test("no help of a command loads a package of a server", () => {
    const loaded = [...loadedBy("up", "--help"), ...loadedBy("get", "--help")];
    const packages = loaded.filter((file) => /^(packages|node_modules)\//.test(file));
    const known =
      /^(node_modules\/commander|packages\/base\/|packages\/kube\/src\/(quantity|go-text)\/|packages\/platform\/src\/sql\/connection-parts)/;
    assert.deepEqual(
      packages.filter((file) => !known.test(file)),
      [],
    );
  });
});

suite("what is said when nobody reads any more", () => {
  for (const words of [["--help"], ["get", "--help"], ["up", "--help"], ["version"]]) {
    test(`keelson ${words.join(" ")} ends as if somebody had`, async () => {
      const child = spawn(process.execPath, [entry, ...words], {
        stdio: ["ignore", "pipe", "pipe"],
      });
      child.stdout.destroy();
      let complaint = "";
      child.stderr.setEncoding("utf8").on("data", (piece: string) => {
        complaint += piece;
      });
      const [code] = (await once(child, "close")) as [number | null];
      assert.deepEqual({ code, complaint }, { code: 0, complaint: "" });
    });
  }

  const notLinux = process.platform !== "linux" && "only Linux has a /dev/full";
  for (const words of [["config"], ["version"], ["--help"], ["get", "--help"]]) {
    test(
      `what keelson ${words.join(" ")} answers and a full disk does not take is told in a sentence`,
      { skip: notLinux },
      async () => {
        await using full = await open("/dev/full", "w");
        const child = spawn(process.execPath, [entry, ...words], {
          stdio: ["ignore", full.fd, "pipe"],
          env: { PATH: process.env["PATH"] ?? "" },
        });
        const [[code], complaint] = await Promise.all([
          once(child, "close") as Promise<[number | null]>,
          child.stderr === null ? "" : text(child.stderr),
        ]);
        assert.deepEqual(
          { code, complaint },
          { code: 1, complaint: "keelson: standard output cannot be written to (ENOSPC)\n" },
        );
      },
    );
  }

  test("and with a complaint that nobody reads, as if it had been read", async () => {
    const child = spawn(process.execPath, [entry, "nope"], { stdio: ["ignore", "pipe", "pipe"] });
    child.stderr.destroy();
    const [code] = (await once(child, "close")) as [number | null];
    assert.equal(code, 2);
  });
});

test("one Ctrl-C ends a command that reads standard input", async (t) => {
  const words = ["apply", "-f", "-", "--cluster", "x", "--server", "http://127.0.0.1:9"];
  const child = spawn(process.execPath, [entry, ...words], { stdio: ["pipe", "pipe", "pipe"] });
  t.after(() => child.kill("SIGKILL"));
  const ended = once(child, "close", { signal: t.signal });
  // More than a pipe holds: it has begun to read.
  await new Promise((resolve) => child.stdin.write("#".repeat(1_000_000), resolve));
  child.stdin.on("error", () => undefined);
  child.kill("SIGINT");
  const [[code], said] = (await Promise.all([ended, text(child.stderr)])) as [[number], string];
  assert.deepEqual([code, said], [130, ""]);
});
