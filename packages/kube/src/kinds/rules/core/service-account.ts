import type { MutableJsonObject } from "@keelson/base";

import { annotationsOf, has, objectsOf, textOf } from "../../../object/members.ts";
import type { KindRules } from "../../kind-rules.ts";

const mountableKey = "kubernetes.io/enforce-mountable-secrets";

export const serviceAccountRules: KindRules = {
  prepareForCreate: keepNamesOnly,
  prepareForUpdate: keepNamesOnly,
  warnings: (account, old) => {
    const isSaid = [account, old].map(
      (own) => own !== undefined && has(annotationsOf(own), mountableKey),
    );
    if (isSaid[0] !== true || isSaid[1] === true) return [];
    return [
      `metadata.annotations[${mountableKey}]: deprecated in v1.32+; prefer separate namespaces to isolate access to mounted secrets`,
    ];
  },
};

/** Secrets are in the account's own namespace; nothing but their names counts. */
function keepNamesOnly(account: MutableJsonObject): void {
  if (!has(account, "secrets")) return;
  account["secrets"] = objectsOf(account, "secrets").map((secret): MutableJsonObject => {
    const name = textOf(secret, "name");
    return name === "" ? {} : { name };
  });
}
