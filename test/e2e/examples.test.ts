// The example controllers before `keelson up`, as their page says: clusters become Ready, survive a kill, and go.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { suite, test } from "node:test";
import { fileURLToPath } from "node:url";
import { findFreePorts } from "../tools/ports.ts";
import { until } from "../tools/until.ts";
import { askRest } from "./ask-rest.ts";
import { KeelsonProcess, temporaryFolder } from "./keelson-process.ts";
import { endsWithUs } from "../tools/ends-with-us.ts";

const program = fileURLToPath(new URL("../../examples/run.ts", import.meta.url));

/** The controllers in a process of their own, which finds the server as a user's would. */
class Examples implements AsyncDisposable {
  readonly #child;
  #output = "";

  constructor(dataDir: string) {
    this.#child = endsWithUs(
      spawn(process.execPath, [program], {
        env: { PATH: process.env["PATH"] ?? "", KEELSON_DATA_DIR: dataDir },
        stdio: ["ignore", "pipe", "inherit"],
      }),
    );
    this.#child.stdout.on("data", (chunk: Buffer) => (this.#output += chunk.toString()));
  }

  get output(): string {
    return this.#output;
  }

  async following(signal: AbortSignal): Promise<void> {
    await until(() => this.#output.includes("follow http"), signal);
  }

  async stop(): Promise<unknown> {
    const exited = once(this.#child, "exit");
    this.#child.kill("SIGTERM");
    const [code] = await exited;
    return code as unknown;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill("SIGKILL");
  }
}

suite("the example controllers before keelson up", () => {
  test("make a cluster Ready, go on after a kill of the server, and let go of it", async ({
    signal,
  }) => {
    await using folder = await temporaryFolder();
    // The controllers know one address: no outgoing connection may have its port while nobody listens there.
    const [port] = await findFreePorts(1);
    const flags = ["--port", String(port)];
    await using first = new KeelsonProcess(folder.path, { flags });
    const { rest = "" } = await first.ready();
    await using examples = new Examples(folder.path);
    await examples.following(signal);
    const ask = askRest({ rest }, signal);
    const spec = { platform: { type: "gcp" }, dns: { baseDomain: "example.com" } };
    const { code, body } = await ask("POST", "/clusters", { name: "prod", spec });
    assert.equal(code, 201, JSON.stringify(body));
    const path = `/clusters/${body.id as string}`;
    const status = async () => (await ask("GET", path)).body.status;
    const isReady = async (generation: number): Promise<boolean> => {
      const { phase, observedGeneration } = await status();
      return phase === "Ready" && observedGeneration === generation;
    };
    await until(() => isReady(1), signal);
    // The other platform is none of the second controller's business, and Ready by the first alone.
    const foreign = await ask("POST", "/clusters", {
      name: "aws",
      spec: { platform: { type: "aws" } },
    });
    const other = async () =>
      (await ask("GET", `/clusters/${foreign.body.id as string}?include=controller_status`)).body;
    await until(async () => (await other()).status.phase === "Ready", signal);
    assert.deepEqual(
      (await other()).controller_status.map(
        (one: { controller_name: string }) => one.controller_name,
      ),
      ["version-resolution"],
    );

    await first.stop("SIGKILL");
    await using second = new KeelsonProcess(folder.path, { flags });
    await second.ready();
    assert.equal((await ask("PUT", path, { spec: { ...spec, more: true } })).code, 200);
    await until(() => isReady(2), signal);

    assert.equal((await ask("DELETE", `${path}?confirm=Ready`)).code, 202);
    await until(async () => (await ask("GET", path)).code === 404, signal);
    assert.equal(await examples.stop(), 0);
    assert.match(examples.output, /zone is gone/);
    assert.equal((await second.stop()).code, 0);
  });
});
