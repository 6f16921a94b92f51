// The Kubernetes API at addresses beyond loopback: by its kubeconfig, and from elsewhere by whatever address leads to it.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { networkInterfaces } from "node:os";
import { suite, test } from "node:test";
import { connect } from "node:tls";
import { onAbort } from "@keelson/base";
import { parse } from "yaml";
import { until } from "../tools/until.ts";
import { KeelsonProcess, temporaryFolder } from "./keelson-process.ts";
import { kubectl, withoutKubectl } from "./kubectl.ts";

const all = Object.values(networkInterfaces()).flatMap((one) => one ?? []);
const ownIpv4 = all.find(({ family, internal }) => family === "IPv4" && !internal)?.address;
const hasIpv6 = all.some(({ family }) => family === "IPv6");

const places = [
  { bound: "0.0.0.0", told: "127.0.0.1", reachable: ["127.0.0.1", ownIpv4], skip: false },
  {
    bound: "::",
    told: "[::1]",
    reachable: ["::1", "127.0.0.1", ownIpv4],
    skip: !hasIpv6 && "this machine has no IPv6",
  },
  {
    bound: ownIpv4 ?? "an address of its own",
    told: ownIpv4,
    reachable: [ownIpv4],
    skip: ownIpv4 === undefined && "this machine has no address but loopback",
  },
] as const;

suite("an address beyond loopback", () => {
  for (const { bound, told, reachable, skip } of places) {
    for (const command of ["apiserver", "up"] as const) {
      test(`keelson ${command} on ${bound}`, { skip: skip || withoutKubectl }, async (t) => {
        const { signal } = t;
        await using folder = await temporaryFolder();
        const flag = command === "up" ? "--kube-address" : "--bind-address";
        await using keelson = new KeelsonProcess(folder.path, { command, flags: [flag, bound] });
        const { kubernetes = "", kubeconfig = "", rest } = await keelson.ready(signal);
        const { host, port } = new URL(kubernetes);
        assert.equal(host, `${told}:${port}`);
        assert.equal(serverIn(await readFile(kubeconfig, "utf8")), kubernetes);
        assert.match(await kubectl(kubeconfig, ["get", "namespaces"], signal), /kube-system/);
        for (const address of reachable) {
          if (address !== undefined) await answersAs(address, Number(port), kubeconfig, signal);
        }
        if (rest === undefined) return;
        // Our own parts find it too.
        await until(async () => {
          const answer = await fetch(`${rest}/api/v1/targets/local`, { signal });
          return (await answer.text()).includes('"health":"Healthy"');
        }, signal);
      });
    }
  }

  const skip =
    (ownIpv4 === undefined && "this machine has no address but loopback") || withoutKubectl;
  test("one that is new at the next start is in the certificate then", { skip }, async (t) => {
    const { signal } = t;
    await using folder = await temporaryFolder();
    const start = (bound: string): KeelsonProcess =>
      new KeelsonProcess(folder.path, { command: "apiserver", flags: ["--bind-address", bound] });
    await using first = start("127.0.0.1");
    await first.ready(signal);
    await first.stop();
    await using second = start("0.0.0.0");
    const { kubernetes = "", kubeconfig = "" } = await second.ready(signal);
    const { port } = new URL(kubernetes);
    await answersAs(ownIpv4 ?? "", Number(port), kubeconfig, signal);
    assert.match(await kubectl(kubeconfig, ["get", "namespaces"], signal), /kube-system/);
  });
});

function serverIn(kubeconfig: string): string | undefined {
  return (parse(kubeconfig) as { clusters: { cluster: { server: string } }[] }).clusters[0]?.cluster
    .server;
}

/** Whoever calls the server by this address believes its certificate. */
async function answersAs(
  host: string,
  port: number,
  kubeconfig: string,
  signal: AbortSignal,
): Promise<void> {
  const { clusters } = parse(await readFile(kubeconfig, "utf8")) as {
    clusters: { cluster: { "certificate-authority-data": string } }[];
  };
  const ca = Buffer.from(clusters[0]?.cluster["certificate-authority-data"] ?? "", "base64");
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const socket = connect({ host, port, ca }, resolve).once("error", reject);
  using _aborted = onAbort(signal, () => reject(signal.reason as Error));
  try {
    await promise;
  } finally {
    socket.destroy();
  }
}
