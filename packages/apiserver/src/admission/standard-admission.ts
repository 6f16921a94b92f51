// The plugins of a standalone server, in the order of the real one.

import type { Random } from "@keelson/base";
import type { Store } from "@keelson/store";

import type { RbacAuthorizer } from "../auth/rbac/rbac-authorizer.ts";
import type { Mirrors } from "../mirrors.ts";
import type { AdmissionPlugin } from "./admission.ts";
import { escalationAdmission } from "./escalation.ts";
import { namespaceLifecycle } from "./namespace-lifecycle.ts";
import { priorityAdmission } from "./priority.ts";
import { serviceAccountAdmission } from "./service-account.ts";
import { signerAdmission } from "./signers.ts";
import {
  defaultClasses,
  defaultTolerations,
  notReadyTaint,
  storageProtection,
} from "./small-defaults.ts";
import { storedNamespaces } from "./stored-namespaces.ts";

export function standardAdmission({
  store,
  random,
  mirrors,
  authorizer,
}: {
  readonly store: Store;
  readonly random: Random;
  readonly mirrors: Mirrors;
  readonly authorizer: RbacAuthorizer;
}): readonly AdmissionPlugin[] {
  const { namespaces, serviceAccounts, priorityClasses, storageClasses, ingressClasses } = mirrors;
  return [
    namespaceLifecycle(storedNamespaces({ store, mirror: namespaces })),
    serviceAccountAdmission({ store, serviceAccounts, random }),
    notReadyTaint,
    priorityAdmission({ classes: priorityClasses }),
    defaultTolerations,
    defaultClasses({ storageClasses, ingressClasses }),
    storageProtection,
    signerAdmission({ authorizer }),
    escalationAdmission({ rules: authorizer.rules, authorizer }),
  ];
}
