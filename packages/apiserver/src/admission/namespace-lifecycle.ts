// Nothing is created in a namespace that is not there, or that is going (KB 75).

import { failures, StatusError } from "@keelson/kube";
import { NotFound, type Store } from "@keelson/store";

import { isTerminating } from "../object-metadata.ts";
import type { Mirror } from "../mirror.ts";
import type { AdmissionPlugin, AdmissionRequest } from "./admission.ts";

export function namespaceLifecycle({
  store,
  namespaces,
}: {
  readonly store: Store;
  readonly namespaces: Pick<Mirror, "get">;
}): AdmissionPlugin {
  const isGoing = async (name: string, signal: AbortSignal): Promise<boolean> => {
    const mirrored = namespaces.get("", name);
    if (mirrored !== undefined) return isTerminating(mirrored.object);
    try {
      // It may be younger than what we have been told.
      const { body } = await store.get({ kind: "Namespace", namespace: "", name }, signal);
      return isTerminating(body.value);
    } catch (error) {
      if (error instanceof NotFound) {
        throw failures.notFound({ group: "", resource: "namespaces" }, name);
      }
      throw error;
    }
  };
  return {
    name: "NamespaceLifecycle",
    handles: ({ isNamespaced, storage }, operation) =>
      isNamespaced && operation === "CREATE" && storage !== undefined,
    admit: (request, signal) => {
      // At once for almost everybody: nothing is looked up, nobody waits.
      const mirrored = namespaces.get("", request.namespace);
      if (mirrored !== undefined && !isTerminating(mirrored.object)) return undefined;
      return isGoing(request.namespace, signal).then((going) => {
        if (going) throw terminating(request);
      });
    },
  };
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
