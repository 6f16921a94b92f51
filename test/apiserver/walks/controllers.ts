// The real kube-controller-manager, kube-scheduler and KWOK beside a server that is given.

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { request as startHttpRequest } from "node:http";
import { request as startHttpsRequest } from "node:https";
import { join } from "node:path";

import { kubeconfigFor } from "../../oracle/cluster-files.ts";
import {
  argumentsOf,
  readyUrlOf,
  type ClusterProgram,
  type Layout,
} from "../../oracle/command-lines.ts";
import { Guard, type GuardedProcess } from "../../tools/guarded.ts";
import { findFreePorts } from "../../tools/ports.ts";
import { programPath } from "../../oracle/programs.ts";
import { until } from "../../tools/until.ts";
import type { Target } from "../target.ts";
import { Commands } from "./commands.ts";

const programs = ["kube-controller-manager", "kube-scheduler", "kwok"] as const;
const users: Readonly<Record<(typeof programs)[number], string>> = {
  "kube-controller-manager": "system:kube-controller-manager",
  "kube-scheduler": "system:kube-scheduler",
  kwok: "kwok",
};

/** Everything by default but what would act on Nodes that nobody's kubelet reports for. */
const controllers = ["*", "-node-lifecycle-controller", "-taint-eviction-controller"];

/** Starts them against the server and waits until each says it is well. */
async function startControllers(
  target: Target,
  signal: AbortSignal,
): Promise<AsyncDisposable & { logOf(program: ClusterProgram): string }> {
  await using undo = new AsyncDisposableStack();
  const guard = undo.use(new Guard());
  const [manager = 0, scheduler = 0, kwok = 0] = await findFreePorts(3);
  const layout: Layout = {
    folder: guard.folder,
    controllers,
    ports: {
      etcd: 0,
      etcdPeer: 0,
      "kube-apiserver": Number(new URL(target.url).port),
      "kube-controller-manager": manager,
      "kube-scheduler": scheduler,
      kwok,
    },
  };
  const write = (name: string, text: string): void =>
    writeFileSync(join(guard.folder, name), text, { mode: 0o600 });
  write("ca.crt", target.ca);
  const masters = ["system:masters"];
  for (const program of programs) {
    const pair = await target.issue({ name: users[program], groups: masters });
    const name = program === "kwok" ? "admin" : program;
    write(`${name}.kubeconfig`, kubeconfigFor({ url: target.url, ca: target.ca, ...pair }));
  }
  const running = new Map<ClusterProgram, GuardedProcess>();
  await Promise.all(
    programs.map(async (program) => {
      const without = /^--(cluster-signing|service-account-private-key)/;
      const flags = argumentsOf(program, layout).filter((flag) => !without.test(flag));
      const started = await guard.start({
        name: program,
        path: programPath(program),
        arguments: flags,
      });
      running.set(program, started);
      await until(async () => {
        if (started.hasEnded) throw new Error(`${program} ended\n${started.logTail()}`);
        return await isReady(readyUrlOf(program, layout));
      }, signal);
    }),
  );
  const disposal = undo.move();
  return {
    logOf: (program) => running.get(program)?.logTail() ?? "",
    [Symbol.asyncDispose]: async () => await disposal.disposeAsync(),
  };
}

/** Deployments, Jobs, Services and owners as in a cluster. */
export async function controllerWalk(
  target: Target,
  namespace: string,
  signal: AbortSignal,
): Promise<void> {
  await using controllers = await startControllers(target, signal);
  const commands = new Commands(target);
  const kubectl = async (...arguments_: string[]): Promise<string> =>
    await commands.must("kubectl", [...arguments_, "-n", namespace], signal);
  try {
    const { client } = target;
    const resources = { cpu: "64", memory: "256Gi", pods: "250" };
    const node = {
      apiVersion: "v1",
      kind: "Node",
      metadata: { name: "walk-node", labels: { "kubernetes.io/os": "linux" } },
      status: { allocatable: resources, capacity: resources },
    };
    await client.send({ method: "POST", path: "/api/v1/nodes", body: node }, signal);
    // A new Node is tainted, and who takes that away is one of those left out.
    const headers = { "content-type": "application/merge-patch+json" };
    const body = { spec: { taints: null } };
    await client.send({ method: "PATCH", path: "/api/v1/nodes/walk-node", body, headers }, signal);
    await commands.must("kubectl", ["create", "namespace", namespace], signal);
    await kubectl("create", "deployment", "web", "--image=web:1", "--replicas=3", "--port=80");
    await kubectl("rollout", "status", "deployment/web", "--timeout=240s");
    await kubectl("expose", "deployment", "web");
    await until(
      async () =>
        (
          await kubectl(
            "get",
            "endpointslices",
            "-o",
            "jsonpath={.items[*].endpoints[*].conditions.ready}",
          )
        )
          .split(" ")
          .filter((one) => one === "true").length === 3,
      signal,
    );
    await kubectl("set", "image", "deployment/web", "web=web:2");
    await kubectl("rollout", "status", "deployment/web", "--timeout=240s");
    assert.equal((await kubectl("get", "rs", "-o", "name")).trim().split("\n").length, 2);
    await kubectl("rollout", "undo", "deployment/web");
    await kubectl("rollout", "status", "deployment/web", "--timeout=240s");
    assert.equal(await kubectl("get", "deployment", "web", "-o", "jsonpath={..image}"), "web:1");
    await kubectl("scale", "deployment/web", "--replicas=1");
    await until(
      async () =>
        (await kubectl("get", "pods", "-l", "app=web", "-o", "name")).trim().split("\n").length ===
        1,
      signal,
    );
    await kubectl("create", "job", "once", "--image=once:1");
    await kubectl("wait", "job/once", "--for=condition=Complete", "--timeout=240s");
    await kubectl("delete", "deployment", "web", "--cascade=foreground", "--timeout=240s");
    await until(
      async () => (await kubectl("get", "pods", "-l", "app=web", "-o", "name")).trim() === "",
      signal,
    );
    const stateful = {
      apiVersion: "apps/v1",
      kind: "StatefulSet",
      metadata: { name: "db", namespace },
      spec: {
        serviceName: "db",
        replicas: 2,
        selector: { matchLabels: { app: "db" } },
        template: {
          metadata: { labels: { app: "db" } },
          spec: { containers: [{ name: "db", image: "db:1" }] },
        },
      },
    };
    await commands.must("kubectl", ["create", "-f", "-"], signal, {
      input: JSON.stringify(stateful),
    });
    await kubectl("rollout", "status", "statefulset/db", "--timeout=240s");
    await commands.must("kubectl", ["delete", "namespace", namespace, "--timeout=240s"], signal);
  } catch (error) {
    const logs = programs.map((program) => `${program}:\n${controllers.logOf(program)}`);
    throw new Error(`${String(error)}\n${logs.join("\n")}`, { cause: error });
  }
}

async function isReady(url: string): Promise<boolean> {
  return await new Promise((resolve) => {
    const start = url.startsWith("https:") ? startHttpsRequest : startHttpRequest;
    const probe = start(
      url,
      { rejectUnauthorized: false, timeout: 2_000, agent: false },
      (incoming) => {
        incoming.resume();
        resolve(incoming.statusCode === 200);
      },
    );
    probe.on("timeout", () => probe.destroy(new Error("timeout")));
    probe.on("error", () => resolve(false));
    probe.end();
  });
}
