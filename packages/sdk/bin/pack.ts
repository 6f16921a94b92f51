#!/usr/bin/env node
// Makes the package that is published: JavaScript with declarations, because Node refuses TypeScript inside
// node_modules. `base` travels inside it: it is nobody else's to install.

import { execFileSync } from "node:child_process";
import { cpSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const sdk = join(dirname(fileURLToPath(import.meta.url)), "..");
const root = join(sdk, "../..");
const dist = join(sdk, "dist");
const target = resolve(process.argv[2] ?? dist);

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly license: string;
  readonly type: string;
  readonly exports: Readonly<Record<string, string>>;
  readonly dependencies: Readonly<Record<string, string>>;
}

rmSync(dist, { recursive: true, force: true });
mkdirSync(target, { recursive: true });
run("node_modules/.bin/tsc", ["-p", join(sdk, "tsconfig.publish.json")]);

// The compiler rewrites what JavaScript imports, but not what declarations do; older compilers want them to agree.
for (const path of globSync("emitted/**/*.d.ts", { cwd: dist })) {
  const text = readFileSync(join(dist, path), "utf8");
  writeFileSync(join(dist, path), text.replaceAll(/(from "\.{1,2}\/[^"]+)\.ts"/g, '$1.js"'));
}

const folder = join(dist, "package");
const bundled = join(folder, "node_modules/@keelson/base");
cpSync(join(dist, "emitted/sdk/src"), join(folder, "lib"), { recursive: true });
cpSync(join(dist, "emitted/base/src"), join(bundled, "lib"), { recursive: true });
cpSync(join(sdk, "README.md"), join(folder, "README.md"));
cpSync(join(root, "LICENSE"), join(folder, "LICENSE"));

const own = manifestOf(sdk);
const base = manifestOf(join(root, "packages/base"));
const { "@google-cloud/pubsub": pubsub } = own.dependencies;
write(folder, {
  ...published(own),
  engines: { node: ">=22" },
  dependencies: { [base.name]: base.version },
  bundleDependencies: [base.name],
  // Large, and only for those who use it.
  peerDependencies: { "@google-cloud/pubsub": `^${pubsub}` },
  peerDependenciesMeta: { "@google-cloud/pubsub": { optional: true } },
});
write(bundled, { ...published({ ...base, exports: { ".": base.exports["."] ?? "" } }) });

// What goes in is decided here, not by whoever's settings npm finds.
const packed = run("npm", [
  "pack",
  folder,
  "--pack-destination",
  target,
  "--json",
  "--ignore-scripts",
]);
const [{ filename }] = JSON.parse(packed) as [{ readonly filename: string }];
process.stdout.write(`${join(target, filename)}\n`);

function published({ name, version, description, license, type, exports }: Manifest): object {
  const entries = Object.entries(exports).map(([entry, source]) => {
    const path = source.replace("./src/", "./lib/").replace(/\.ts$/, "");
    return [entry, { types: `${path}.d.ts`, default: `${path}.js` }] as const;
  });
  return { name, version, description, license, type, exports: Object.fromEntries(entries) };
}

function manifestOf(path: string): Manifest {
  return JSON.parse(readFileSync(join(path, "package.json"), "utf8")) as Manifest;
}

function write(path: string, manifest: object): void {
  writeFileSync(join(path, "package.json"), `${JSON.stringify(manifest, undefined, 2)}\n`);
}

function run(command: string, args: readonly string[]): string {
  return execFileSync(command, args, {
    cwd: root,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
  });
}
