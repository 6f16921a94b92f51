// What a credential plugin is told about the cluster it is asked for: `KUBERNETES_EXEC_INFO`.

import { isJsonObject, type Json, type JsonObject } from "@keelson/base";
import { memberOf } from "@keelson/kube";

import { objectsOf } from "./json-parts.ts";

export interface ExecCluster {
  readonly server: string;
  /** PEM, wherever it was read from. */
  readonly ca?: string | undefined;
  /** The entry of the kubeconfig, as it is written. */
  readonly written: JsonObject;
}

/** The document; the cluster is in it only if the plugin wants it. Some plugins refuse to work without. */
export function execInfo(exec: JsonObject, cluster: ExecCluster): Json {
  const isTold = memberOf(exec, "provideClusterInfo") === true;
  return {
    apiVersion: memberOf(exec, "apiVersion") ?? "client.authentication.k8s.io/v1",
    kind: "ExecCredential",
    spec: { interactive: false, ...(isTold ? { cluster: toldOf(cluster) } : {}) },
  };
}

function toldOf({ server, ca, written }: ExecCluster): JsonObject {
  const told: Record<string, Json> = { server };
  for (const name of ["tls-server-name", "insecure-skip-tls-verify", "proxy-url"] as const) {
    const value = memberOf(written, name);
    if (value !== undefined && value !== "" && value !== false) told[name] = value;
  }
  if (ca !== undefined) told["certificate-authority-data"] = Buffer.from(ca).toString("base64");
  const config = objectsOf(memberOf(written, "extensions"))
    .filter((one) => memberOf(one, "name") === "client.authentication.k8s.io/exec")
    .map((one) => memberOf(one, "extension"))
    .find((extension) => isJsonObject(extension));
  if (config !== undefined) told["config"] = config;
  return told;
}
