// Nothing is created in a namespace that is not there, or that is going (KB 75).

import { failures, StatusError } from "@keelson/kube";

import type { AdmissionPlugin, AdmissionRequest } from "./admission.ts";

export type NamespacePhase = "active" | "terminating" | "missing";

/** The namespaces of the cluster, wherever they are kept. */
export interface Namespaces {
  /** Whether a namespace is known to be there and to stay. What is remembered may be old: a no means ask. */
  isActive(name: string): boolean;
  /** How it is now. */
  ask(name: string, signal: AbortSignal): Promise<NamespacePhase>;
}

export function namespaceLifecycle(namespaces: Namespaces): AdmissionPlugin {
  return {
    name: "NamespaceLifecycle",
    handles: ({ isNamespaced, storage }, operation) =>
      isNamespaced && operation === "CREATE" && storage !== undefined,
    admit: (request, signal) => {
      // At once for almost everybody: nothing is looked up, nobody waits.
      if (namespaces.isActive(request.namespace)) return undefined;
      // It may be younger than what we have been told.
      return namespaces.ask(request.namespace, signal).then((phase) => {
        if (phase === "missing") throw missing(request);
        if (phase === "terminating") throw terminating(request);
      });
    },
  };
}

function missing({ namespace }: AdmissionRequest): StatusError {
  return failures.notFound({ group: "", resource: "namespaces" }, namespace);
}

function terminating({ resource, namespace, name }: AdmissionRequest): StatusError {
  const { status } = failures.forbidden(
    { group: resource.group, resource: resource.plural },
    name,
    `unable to create new content in namespace ${namespace} because it is being terminated`,
  );
  const cause = {
    reason: "NamespaceTerminating",
    message: `namespace ${namespace} is being terminated`,
    field: "metadata.namespace",
  };
  return new StatusError({ ...status, details: { ...status.details, causes: [cause] } });
}
