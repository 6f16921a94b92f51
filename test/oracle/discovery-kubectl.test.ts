// kubectl, unmodified, before nothing but our documents.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

import { arkResources, builtinResources, Discovery, OpenApi, Registry } from "@keelson/apiserver";
import { ManualClock } from "@keelson/base/testing";
import { loadBuiltinKinds } from "@keelson/kube";

import { oracleTest } from "./oracle-test.ts";
import { programPath } from "./programs.ts";

const run = promisify(execFile);

/** Serves the documents of a registry, and says how kubectl is asked there. */
async function serveDocuments(signal: AbortSignal) {
  const kinds = await loadBuiltinKinds();
  const registry = new Registry();
  registry.put("built-in", builtinResources(kinds));
  registry.put("ark", arkResources());
  const discovery = new Discovery({ registry, serverAddress: () => "127.0.0.1" });
  const openApi = new OpenApi({ registry, kinds, clock: new ManualClock() });
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? "/", "http://127.0.0.1");
    const asked = {
      path: url.pathname,
      accept: request.headers.accept ?? "",
      ifNoneMatch: request.headers["if-none-match"],
      hash: url.searchParams.get("hash") ?? undefined,
    };
    const answer = discovery.answer(asked) ?? openApi.answer(asked);
    response.writeHead(answer?.status ?? 404, answer?.headers ?? {});
    response.end(answer?.body ?? "404 page not found");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening", { signal });
  const home = await mkdtemp(join(tmpdir(), "keelson-kubectl-"));
  const { port } = server.address() as AddressInfo;
  return {
    registry,
    kubectl: async (...words: readonly string[]): Promise<string> => {
      const options = { env: { HOME: home, PATH: process.env["PATH"] }, signal };
      const args = [`--server=http://127.0.0.1:${port}`, `--cache-dir=${home}`, ...words];
      const { stdout } = await run(programPath("kubectl"), args, options);
      return stdout;
    },
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await rm(home, { recursive: true, force: true });
    },
  };
}

oracleTest("kubectl lists every kind with its verbs (API-1)", async (t) => {
  await using documents = await serveDocuments(t.signal);
  const { registry, kubectl } = documents;
  const shown = await kubectl("api-resources", "--no-headers", "-o", "name");
  const expected = registry.served.all.map(({ group, plural }) =>
    group === "" ? plural : `${plural}.${group}`,
  );
  assert.deepEqual(shown.trim().split("\n").sort(), [...new Set(expected)].sort());
  const queries = await kubectl(
    "api-resources",
    "--api-group=ark.mckinsey.com",
    "--no-headers",
    "-o",
    "wide",
  );
  assert.match(
    queries,
    /^queries +ark\.mckinsey\.com\/v1alpha1 +true +Query +delete,deletecollection,get,list,patch,create,update,watch/m,
  );
});

oracleTest("kubectl explains built-in kinds and ours (API-2)", async (t) => {
  await using documents = await serveDocuments(t.signal);
  const { kubectl } = documents;
  const target = await kubectl("explain", "query.spec.target");
  assert.match(target, /GROUP: +ark\.mckinsey\.com\nKIND: +Query\nVERSION: +v1alpha1/);
  assert.match(target, /name\t<string> -required-/);
  assert.match(target, /enum: agent, team, model, tool/);
  const deployment = await kubectl("explain", "deployments.spec.strategy");
  assert.match(deployment, /rollingUpdate\t<RollingUpdateDeployment>/);
  assert.match(deployment, /enum: Recreate, RollingUpdate/);
  const recursive = await kubectl("explain", "agents", "--recursive");
  assert.match(recursive, /modelRef\t<Object>\n +name\t<string> -required-/);
});

oracleTest("kubectl knows our version", async (t) => {
  await using documents = await serveDocuments(t.signal);
  const { kubectl } = documents;
  const shown = JSON.parse(await kubectl("version", "-o", "json")) as {
    serverVersion: { gitVersion: string };
  };
  assert.equal(shown.serverVersion.gitVersion, "v1.36.3+keelson");
});
