// The kinds of the host that we read: known to every cluster, so nobody is asked for them.

import type { Resource } from "@keelson/client";

/** Where every cluster tells its extensions whom to believe. */
export const trustNamespace = "kube-system";
export const trustConfigMap = "extension-apiserver-authentication";

export const configMaps = coreResource("ConfigMap", "configmaps", { isNamespaced: true });
export const namespaces = coreResource("Namespace", "namespaces", { isNamespaced: false });
export const secrets = coreResource("Secret", "secrets", { isNamespaced: true });

function coreResource(
  kind: string,
  resource: string,
  { isNamespaced }: { readonly isNamespaced: boolean },
): Resource {
  return {
    apiVersion: "v1",
    kind,
    group: "",
    version: "v1",
    resource,
    isNamespaced,
    verbs: ["get", "list", "watch"],
    subresources: [],
  };
}
