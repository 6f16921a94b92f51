// A Kubernetes API that shows a certificate of somebody else: the kubeconfig that it writes believes it.

import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { suite, test } from "node:test";
import { parse } from "yaml";
import { CertificateAuthority } from "../tools/certificates.ts";
import { until } from "../tools/until.ts";
import { KeelsonProcess, temporaryFolder } from "./keelson-process.ts";
import { kubectl, withoutKubectl } from "./kubectl.ts";

suite("a certificate of somebody else", { skip: withoutKubectl }, () => {
  for (const [what, hosts, withRoot] of [
    ["with its authority in the file", ["127.0.0.1"], true],
    ["without its authority", ["127.0.0.1"], false],
    ["for a name alone", ["api.example.com"], true],
    ["for names below a domain", ["*.example.com"], true],
    ["for another address", ["192.0.2.99"], true],
  ] as const) {
    test(what, async (t) => {
      const { signal } = t;
      await using folder = await temporaryFolder();
      const flags = await place(folder.path, { hosts, withRoot });
      const options = { command: "apiserver", flags } as const;
      await using keelson = new KeelsonProcess(join(folder.path, "data"), options);
      const { kubeconfig = "" } = await keelson.ready(signal);
      assert.match(await kubectl(kubeconfig, ["get", "namespaces"], signal), /kube-system/);
      assert.equal(/comes without its root/.test(keelson.output), !withRoot, keelson.output);
      // What runs in the cluster is told to trust the same.
      const words = ["get", "configmaps", "-n=default", "-o=jsonpath={.items[*].data.ca\\.crt}"];
      const trusted = trustedIn(await readFile(kubeconfig, "utf8"));
      await until(async () => (await kubectl(kubeconfig, words, signal)) === trusted, signal);
    });
  }

  test("that is replaced by one of another authority is believed, too", async (t) => {
    const { signal } = t;
    await using folder = await temporaryFolder();
    const wanted = { hosts: ["127.0.0.1"], withRoot: true };
    const flags = await place(folder.path, wanted);
    const options = { command: "apiserver", flags } as const;
    await using keelson = new KeelsonProcess(join(folder.path, "data"), options);
    const { kubeconfig = "" } = await keelson.ready(signal);
    const before = await readFile(kubeconfig, "utf8");
    await place(folder.path, wanted);
    await until(async () => (await readFile(kubeconfig, "utf8")) !== before, signal);
    assert.match(await kubectl(kubeconfig, ["get", "namespaces"], signal), /kube-system/);
  });
});

/** Writes a new certificate of a new authority, and answers the flags that name it. */
async function place(
  folder: string,
  { hosts, withRoot }: { readonly hosts: readonly string[]; readonly withRoot: boolean },
): Promise<readonly string[]> {
  const authority = await CertificateAuthority.create("somebody");
  const { certificate, key } = await authority.issue({ name: "api", hosts });
  const [certificateFile, keyFile] = [join(folder, "tls.crt"), join(folder, "tls.key")];
  await writeFile(keyFile, key);
  await writeFile(certificateFile, `${certificate}\n${withRoot ? authority.certificate : ""}`);
  return ["--tls-cert-file", certificateFile, "--tls-private-key-file", keyFile];
}

function trustedIn(kubeconfig: string): string {
  const { clusters } = parse(kubeconfig) as {
    clusters: { cluster: { "certificate-authority-data": string } }[];
  };
  const data = clusters[0]?.cluster["certificate-authority-data"] ?? "";
  return Buffer.from(data, "base64").toString().trim();
}
