// Every pod runs as a ServiceAccount, and finds its token where clients look for it.

import type { JsonObject, MutableJsonObject, Random } from "@keelson/base";
import { failures, generateName } from "@keelson/kube";
import { type Store } from "@keelson/store";

import { findRow } from "../find-row.ts";
import { objectsAt, textAt } from "../fields.ts";
import { metadataOf } from "../object-metadata.ts";
import type { Mirror } from "../mirror.ts";
import type { AdmissionPlugin, AdmissionRequest } from "./admission.ts";
import { isResource, ownItems, ownSpec, refused } from "./pod-spec.ts";

const tokenPath = "/var/run/secrets/kubernetes.io/serviceaccount";
const volumePrefix = "kube-api-access-";
const mirrorPod = "kubernetes.io/config.mirror";

export function serviceAccountAdmission({
  store,
  serviceAccounts,
  random,
}: {
  readonly store: Store;
  readonly serviceAccounts: Pick<Mirror, "get">;
  readonly random: Random;
}): AdmissionPlugin {
  const find = async (
    namespace: string,
    name: string,
    signal: AbortSignal,
  ): Promise<JsonObject | undefined> => {
    const mirrored = serviceAccounts.get(namespace, name);
    if (mirrored !== undefined) return mirrored.object;
    const row = await findRow(store, { kind: "ServiceAccount", namespace, name }, signal);
    return row?.body.value;
  };
  const admit = async (request: AdmissionRequest, signal: AbortSignal): Promise<void> => {
    const { object: pod, subresource, namespace } = request;
    if (pod === undefined || subresource !== "") return;
    const spec = ownSpec(pod);
    if (isMirror(pod)) {
      if (textAt(spec, "serviceAccountName") !== "") {
        throw refused(request, "a mirror pod may not reference service accounts");
      }
      return;
    }
    const name = textAt(spec, "serviceAccountName") || "default";
    spec["serviceAccountName"] = name;
    spec["serviceAccount"] = name;
    const account = await find(namespace, name, signal);
    if (account === undefined) {
      const { message } = failures.notFound({ group: "", resource: "serviceaccount" }, name);
      const place = `${namespace}/${name}`;
      throw refused(request, `error looking up service account ${place}: ${message}`);
    }
    if (automounts(account, spec)) mountToken(spec, random);
    if (ownItems(spec, "imagePullSecrets").length === 0) {
      const secrets = objectsAt(account, "imagePullSecrets");
      if (secrets.length > 0) {
        spec["imagePullSecrets"] = secrets.map((secret) => ({ name: textAt(secret, "name") }));
      }
    }
  };
  return {
    name: "ServiceAccount",
    handles: (resource, operation) => isResource(resource, "pods") && operation === "CREATE",
    admit,
  };
}

function isMirror(pod: JsonObject): boolean {
  const { annotations } = metadataOf(pod) as { annotations?: JsonObject };
  return annotations !== undefined && Object.hasOwn(annotations, mirrorPod);
}

function automounts(account: JsonObject, spec: JsonObject): boolean {
  const own = spec["automountServiceAccountToken"];
  if (typeof own === "boolean") return own;
  return account["automountServiceAccountToken"] !== false;
}

/** Adds the token's volume, and mounts it wherever nothing else stands in its place. */
function mountToken(spec: MutableJsonObject, random: Random): void {
  const volumes = ownItems(spec, "volumes");
  const known = volumes.find((volume) => textAt(volume, "name").startsWith(volumePrefix));
  const name = known === undefined ? generateName(volumePrefix, random) : textAt(known, "name");
  let isNeeded = false;
  for (const list of ["initContainers", "containers"]) {
    for (const container of ownItems(spec, list)) {
      const mounts = ownItems(container, "volumeMounts");
      if (mounts.some((mount) => textAt(mount, "mountPath") === tokenPath)) continue;
      container["volumeMounts"] = [...mounts, { name, readOnly: true, mountPath: tokenPath }];
      isNeeded = true;
    }
  }
  if (known !== undefined || !isNeeded) return;
  spec["volumes"] = [...volumes, { name, projected: tokenVolume() }];
}

function tokenVolume(): MutableJsonObject {
  return {
    sources: [
      { serviceAccountToken: { expirationSeconds: 3607, path: "token" } },
      { configMap: { name: "kube-root-ca.crt", items: [{ key: "ca.crt", path: "ca.crt" }] } },
      {
        downwardAPI: {
          items: [
            { path: "namespace", fieldRef: { apiVersion: "v1", fieldPath: "metadata.namespace" } },
          ],
        },
      },
    ],
    defaultMode: 420,
  };
}
