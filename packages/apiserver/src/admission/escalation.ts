// Nobody hands out rights that they do not have (KB 65).

import { checkEscalation, type EscalationDependencies } from "../auth/rbac/escalation.ts";
import type { AdmissionPlugin } from "./admission.ts";

const verbs = { CREATE: "create", UPDATE: "update" } as const;

export function escalationAdmission(dependencies: EscalationDependencies): AdmissionPlugin {
  return {
    name: "Escalation",
    handles: ({ group }, operation) =>
      group === "rbac.authorization.k8s.io" && operation !== "DELETE",
    admit: (request, signal) => {
      const { operation, resource, subresource, namespace, name, user, object, old } = request;
      if (object === undefined || operation === "DELETE") return undefined;
      const attributes = {
        isResource: true,
        verb: verbs[operation],
        group: resource.group,
        version: resource.version,
        resource: resource.plural,
        subresource,
        namespace,
        // A creation names nothing in its path: a right to escalate some names is none to create them.
        name: operation === "CREATE" ? "" : name,
      } as const;
      return checkEscalation({ user, attributes, object, old }, dependencies, signal);
    },
  };
}
