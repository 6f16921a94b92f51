// What Secrets, ConfigMaps and Services take, and what the server makes of it.

import { casesFor, casesOf, type Script } from "../case.ts";
import { configMap, secret, service } from "../objects.ts";

const scripts: Record<string, Script> = {
  "secrets: text, data and types": async (lab) => {
    await lab.post(
      lab.core("secrets"),
      secret("a", {}, { stringData: { a: "text", b: "x" }, data: { b: "eQ==", c: "eg==" } }),
    );
    await lab.post(lab.core("secrets"), secret("b", {}, { data: { c: "not base64" } }));
    await lab.post(lab.core("secrets"), secret("c", {}, { type: "kubernetes.io/tls", data: {} }));
    await lab.post(
      lab.core("secrets"),
      secret(
        "d",
        {},
        { type: "kubernetes.io/dockerconfigjson", stringData: { ".dockerconfigjson": "{" } },
      ),
    );
    await lab.post(
      lab.core("secrets"),
      secret("e", {}, { immutable: true, stringData: { a: "1" } }),
    );
    await lab.patch("merge", lab.core("secrets", "e"), { stringData: { a: "2" } });
    await lab.patch("merge", lab.core("secrets", "e"), { immutable: false });
    await lab.patch("merge", lab.core("secrets", "a"), { type: "other" });
    await lab.patch("merge", lab.core("secrets", "a"), { stringData: { a: "new" } });
    await lab.post(lab.core("secrets"), secret("f", {}, { data: { "bad key": "eA==" } }));
    await lab.post(lab.core("secrets"), secret("g", {}, { type: "kubernetes.io/basic-auth" }));
    await lab.post(
      lab.core("secrets"),
      secret("h", {}, { type: "kubernetes.io/service-account-token" }),
    );
  },
  "config maps: keys, bytes, immutable": async (lab) => {
    await lab.post(lab.core("configmaps"), { ...configMap("a"), binaryData: { b: "AAE=" } });
    await lab.post(lab.core("configmaps"), { ...configMap("b"), binaryData: { a: "AAE=" } });
    await lab.post(lab.core("configmaps"), configMap("c", { "bad key": "1", "..": "1" }));
    await lab.post(lab.core("configmaps"), { ...configMap("d"), immutable: true });
    await lab.patch("merge", lab.core("configmaps", "d"), { data: { a: "2" } });
    await lab.patch("merge", lab.core("configmaps", "d"), { immutable: null });
    // The same amount, were it one: under keys of the user's own it is a text.
    const numbers = { max: "1", limits: "1", capacity: "1" };
    await lab.post(lab.core("configmaps"), { ...configMap("i", numbers), immutable: true });
    await lab.patch("merge", lab.core("configmaps", "i"), { data: { max: "1.0" } });
    await lab.patch("merge", lab.core("configmaps", "i"), { data: { capacity: "1000m" } });
    await lab.post(lab.core("configmaps"), configMap("e", { a: 1 }));
    await lab.post(lab.core("configmaps"), configMap("f", { a: null }));
    await lab.post(lab.core("configmaps"), { ...configMap("g"), data: ["a"] });
    await lab.post(lab.core("configmaps"), configMap("h", { a: "x".repeat(1_048_577) }));
  },
  ...casesFor(
    {
      ClusterIP: {},
      headless: { clusterIP: "None" },
      NodePort: { type: "NodePort" },
      LoadBalancer: { type: "LoadBalancer" },
      ExternalName: { type: "ExternalName", externalName: "example.com", ports: [] },
      "no ports": { ports: [] },
      "two ports without names": { ports: [{ port: 1 }, { port: 2 }] },
      "a bad address": { clusterIP: "1.2.3" },
      "an address outside": { clusterIP: "192.168.1.1" },
      "the first address": { clusterIP: "10.96.0.1" },
      "a bad port": { ports: [{ port: 70_000 }] },
      "a bad type": { type: "Nothing" },
      "session affinity": { sessionAffinity: "ClientIP" },
      "two families": { ipFamilyPolicy: "PreferDualStack" },
      "an address of the other family": { clusterIP: "2001:db8::1" },
      "the other family": { ipFamilies: ["IPv6"] },
      "an address that is not of its family": { clusterIP: "10.96.0.9", ipFamilies: ["IPv6"] },
      "an address of the other family, named": { clusterIP: "2001:db8::1", ipFamilies: ["IPv6"] },
      "addresses alone": { clusterIPs: ["2001:db8::1"] },
      "two addresses": { clusterIP: "10.96.0.9", clusterIPs: ["10.96.0.9", "2001:db8::1"] },
      "both families": { ipFamilies: ["IPv4", "IPv6"] },
      "both families at once": { ipFamilyPolicy: "RequireDualStack" },
      "no address and the other family": { clusterIP: "None", ipFamilies: ["IPv6"] },
      "external addresses": { externalIPs: ["1.2.3.4"], loadBalancerSourceRanges: ["x"] },
      "a chosen node port": { type: "NodePort", ports: [{ port: 80, nodePort: 30_003 }] },
      "a bad node port": { type: "NodePort", ports: [{ port: 80, nodePort: 80 }] },
    },
    "services: %",
    async (lab, spec) => {
      const path = lab.core("services", "s");
      await lab.post(lab.core("services"), service("s", spec));
      await lab.patch("merge", path, { spec: { selector: { app: "y" } } });
      await lab.patch("merge", path, { spec: { clusterIP: "10.96.77.77" } });
      await lab.patch("merge", path, { spec: { type: "ClusterIP" } });
      await lab.put(path, service("s", spec));
      await lab.delete(path);
    },
  ),
  ...casesFor(
    { "are given back": {}, "stay away": { allocateLoadBalancerNodePorts: false } },
    "services: ports of nodes that an update leaves out %",
    async (lab, more) => {
      const spec = { type: "LoadBalancer", ...more };
      const ports = [
        { port: 80, nodePort: "allocateLoadBalancerNodePorts" in more ? 30_001 : 30_002 },
      ];
      await lab.post(lab.core("services"), service("s", { ...spec, ports }));
      await lab.put(lab.core("services", "s"), service("s", { ...spec, ports: [{ port: 80 }] }));
      await lab.delete(lab.core("services", "s"));
    },
  ),
};

export const coreKindCases = casesOf("core kinds", scripts);
