// The package as its users get it: from the tarball, outside the workspace, run by plain Node.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { before, after, suite, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const run = promisify(execFile);
const root = join(dirname(fileURLToPath(import.meta.url)), "../..");

suite("the published SDK", () => {
  let folder = "";

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "keelson-sdk-"));
    const { stdout } = await run(process.execPath, ["packages/sdk/bin/pack.ts", folder], {
      cwd: root,
    });
    await writeFile(join(folder, "package.json"), '{ "type": "module", "private": true }');
    // Everything it needs is inside: nothing may be asked of a registry.
    const flags = ["--offline", "--no-audit", "--no-fund", "--ignore-scripts"];
    await run("npm", ["install", stdout.trim(), ...flags], { cwd: folder });
  });

  after(() => rm(folder, { recursive: true, force: true }));

  async function runProgram(name: string, text: string): Promise<string> {
    await writeFile(join(folder, name), text);
    const { stdout } = await run(process.execPath, [join(folder, name)], { cwd: folder });
    return stdout.trim();
  }

  test("holds JavaScript and declarations, and no sources or tests", async () => {
    const files = await readdir(join(folder, "node_modules/@keelson/sdk"), { recursive: true });
    assert.ok(files.includes("lib/index.js") && files.includes("lib/index.d.ts"));
    const strays = files.filter((path) => /(?<!\.d)\.ts$|\.test\.|tsconfig/.test(path));
    assert.deepEqual(strays, []);
  });

  test("runs a controller against its fake backend", async () => {
    const text = `
      import { createController, ready } from "@keelson/sdk";
      import { FakeBackend } from "@keelson/sdk/testing";
      const backend = new FakeBackend();
      const { id } = await backend.createCluster("prod", { dns: { baseDomain: "example.com" } });
      const controller = createController({
        name: "dns",
        kinds: ["cluster"],
        transport: backend.transport,
        api: backend.api,
        preconditions: [{ field: "spec.dns.baseDomain", operator: "exists" }],
        reconcile: ({ resource }) => ready({ zone: resource.spec.dns.baseDomain }),
      });
      await controller.start();
      await controller.stop();
      console.log(JSON.stringify(backend.report(id, "dns").metadata));
    `;
    assert.equal(await runProgram("run.js", text), '{"zone":"example.com"}');
  });

  test("says what to install when Pub/Sub is wanted and its client is not there", async () => {
    const text = `
      import { createController, pubsub, ready } from "@keelson/sdk";
      import { FakeBackend } from "@keelson/sdk/testing";
      const { api } = new FakeBackend();
      const transport = pubsub({ subscription: "dns" });
      const controller = createController({ name: "dns", kinds: ["cluster"], transport, api, reconcile: () => ready() });
      await controller.start().catch((error) => console.log(error.message));
    `;
    assert.match(await runProgram("pubsub.js", text), /npm install @google-cloud\/pubsub/);
  });

  test("its declarations suffice for a strict compiler", async () => {
    await writeFile(
      join(folder, "controller.ts"),
      `import { createController, failed, ready, sse, type Result } from "@keelson/sdk";
       import { FakeBackend } from "@keelson/sdk/testing";
       export const backend = new FakeBackend();
       export const controller = createController({
         name: "dns",
         kinds: ["cluster"],
         transport: sse(),
         api: { url: "http://127.0.0.1:8080" },
         identity: { email: "dns@example.com", gatewaySecret: "secret" },
         async reconcile(ctx): Promise<Result> {
           ctx.log.info({ attempt: ctx.attempt }, "looking");
           if (ctx.signal.aborted) return failed({ type: "Transient", code: "Late", message: "late" });
           return ready({ name: ctx.resource.name });
         },
       });
       // @ts-expect-error: it is not a kind.
       createController({ name: "x", kinds: ["pod"], transport: sse(), api: { url: "" }, reconcile: () => ready() });
      `,
    );
    const options = {
      compilerOptions: {
        strict: true,
        noEmit: true,
        module: "nodenext",
        target: "es2023",
        lib: ["esnext"],
        types: ["node"],
        skipLibCheck: false,
      },
      files: ["controller.ts"],
    };
    await writeFile(join(folder, "tsconfig.json"), JSON.stringify(options));
    await mkdir(join(folder, "node_modules/@types"), { recursive: true });
    await symlink(join(root, "node_modules/@types/node"), join(folder, "node_modules/@types/node"));
    await symlink(
      join(root, "node_modules/undici-types"),
      join(folder, "node_modules/undici-types"),
    );
    const tsc = join(root, "node_modules/.bin/tsc");
    await run(tsc, ["-p", folder]).catch((error: { readonly stdout: string }) => {
      assert.fail(error.stdout);
    });
  });
});
