// The image, as far as it can be made without a container runtime: the steps of its Dockerfile in a folder of their own, and the
// executable that comes of them, started as the image would start it.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, matchesGlob, relative } from "node:path";
import { suite, test } from "node:test";
import { fileURLToPath } from "node:url";
import { expectAnswer } from "./expect-answer.ts";
import { KeelsonProcess } from "./keelson-process.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const dockerfile = readFileSync(join(root, "deploy/docker/Dockerfile"), "utf8");
const ignored = readFileSync(join(root, "deploy/docker/Dockerfile.dockerignore"), "utf8");

interface Step {
  readonly instruction: string;
  readonly text: string;
}

/** The steps of each stage, by its name; the last one has none. */
const stages = new Map<string, readonly Step[]>();
for (const step of stepsOf(dockerfile)) {
  if (step.instruction === "FROM") stages.set(/ AS (\w+)$/.exec(step.text)?.[1] ?? "", []);
  const [name, steps] = [...stages].at(-1) ?? ["", []];
  stages.set(name, [...steps, step]);
}

suite("the image", () => {
  test("is of the Node that everything is tried with, and runs as nobody in particular", () => {
    const { devDependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
      devDependencies: Readonly<Record<string, string>>;
    };
    const known = new Set("FROM WORKDIR COPY RUN LABEL ENV USER EXPOSE ENTRYPOINT CMD".split(" "));
    const all = stepsOf(dockerfile);
    assert.deepEqual(
      all.filter(({ instruction }) => !known.has(instruction)),
      [],
    );
    const images = all.filter(({ instruction }) => instruction === "FROM");
    for (const { text } of images) {
      assert.equal(text.split(" ")[0], `node:${devDependencies["node"]}-bookworm-slim`);
    }
    assert.equal(only("USER"), "1000:1000");
    assert.deepEqual(only("EXPOSE").split(" "), ["6443", "8081"]);
  });

  test("holds what its steps bring, and serves", async (t) => {
    const folder = realpathSync(mkdtempSync(join(tmpdir(), "keelson-image-")));
    t.after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));
    chmodSync(folder, 0o755);
    const app = join(folder, "app");
    install(app);
    assert.ok(!existsSync(join(app, "node_modules/oxlint")), "tools of development are in it");
    assert.deepEqual(globSync("packages/*/src/**/*.test.ts", { cwd: app }), []);

    const home = join(folder, "home");
    mkdirSync(home);
    // The image's folder for data belongs to the user of the image; everything else to root.
    const [uid = 0, gid = 0] = only("USER").split(":").map(Number);
    const isRoot = process.getuid?.() === 0;
    if (isRoot) chownSync(home, uid, gid);
    const [program, entry = ""] = JSON.parse(only("ENTRYPOINT")) as string[];
    assert.equal(program, "node");
    assert.deepEqual(JSON.parse(only("CMD")), ["apiserver"]);
    await using keelson = new KeelsonProcess(join(home, "data"), {
      command: "apiserver",
      entry: join(folder, entry),
      cwd: home,
      environment: { HOME: home, NODE_ENV: "production" },
      ...(isRoot ? { uid } : {}),
    });
    const { metrics = "" } = await keelson.ready(t.signal);
    await expectAnswer(() => fetch(new URL("/readyz", metrics)), 200, t.signal);
    const { code, signal, output } = await keelson.stop();
    assert.deepEqual([code, signal], [0, null], output);
  });
});

/** The text of an instruction that the last stage has once. */
function only(instruction: string): string {
  const found = (stages.get("") ?? []).filter((step) => step.instruction === instruction);
  assert.equal(found.length, 1, `${instruction} stands ${found.length} times`);
  return found[0]?.text ?? "";
}

/** Does what the first stage does, its files below `app` instead of `/app`. */
function install(app: string): void {
  const inImage = (path: string): string => join(app, path.replace(/^\/app\/?|^\.\//, ""));
  for (const { instruction, text } of stages.get("install") ?? []) {
    switch (instruction) {
      case "FROM":
        break;
      case "WORKDIR":
        assert.equal(text, "/app");
        mkdirSync(app);
        break;
      case "COPY": {
        const [target = "", ...sources] = text.split(" ").toReversed();
        for (const source of sources)
          copy(source, target === "./" ? inImage(source) : inImage(target));
        break;
      }
      case "RUN": {
        const env = { ...process.env, npm_config_prefer_offline: "true" };
        const { status, stderr } = spawnSync("sh", ["-c", text], {
          cwd: app,
          env,
          encoding: "utf8",
        });
        assert.equal(status, 0, `${text}: ${stderr}`);
        break;
      }
      default:
        assert.fail(`nobody knows how to ${instruction}`);
    }
  }
  assert.equal(only("COPY"), "--from=install /app /app");
}

/** Copies what the build would be given of it. */
function copy(source: string, target: string): void {
  assert.ok(existsSync(join(root, source)), `there is no ${source}`);
  assert.ok(!isIgnored(source), `${source} is not sent to the build`);
  cpSync(join(root, source), target, {
    recursive: true,
    filter: (path) => !isIgnored(relative(root, path)),
  });
  assert.ok(readdirSync(join(target, "..")).length > 0);
}

/** By the last pattern that names the path, or a folder it is in. */
function isIgnored(path: string): boolean {
  const parts = path.split("/");
  const names = parts.map((_, index) => parts.slice(0, index + 1).join("/"));
  let verdict = false;
  for (const line of ignored.split("\n")) {
    if (line === "" || line.startsWith("#")) continue;
    const isKept = line.startsWith("!");
    const pattern = isKept ? line.slice(1) : line;
    if (names.some((name) => matchesGlob(name, pattern))) verdict = !isKept;
  }
  return verdict;
}

function stepsOf(text: string): readonly Step[] {
  return text
    .split("\n")
    .filter((line) => !line.startsWith("#"))
    .join("\n")
    .replaceAll(/\\\n\s*/g, "")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => {
      const [instruction = ""] = line.split(" ", 1);
      return { instruction, text: line.slice(instruction.length + 1) };
    });
}
