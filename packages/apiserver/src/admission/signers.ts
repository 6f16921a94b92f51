// Who decides about certificates must be allowed to decide for their signer: a right of its own beside that to the object.

import { jsonEqual, type JsonObject } from "@keelson/base";
import { memberOf, quote, requestedGroups } from "@keelson/kube";

import type { Authorizer } from "../auth/authorizer.ts";
import { isHousekeeping } from "../auth/rbac/escalation.ts";
import { mastersGroup } from "../auth/user.ts";
import { objectAt, textAt } from "../fields.ts";
import type { AdmissionPlugin, AdmissionRequest } from "./admission.ts";
import { isResource, refused } from "./pod-spec.ts";

const requests = "certificatesigningrequests.certificates.k8s.io";
const bundles = "clustertrustbundles.certificates.k8s.io";

/** Its certificates are those of users. */
const clientSigner = "kubernetes.io/kube-apiserver-client";

type Verb = "approve" | "sign" | "attest";

const refusals: Readonly<Record<Verb, string>> = {
  approve: "approve requests with",
  sign: "sign requests with",
  attest: "attest for",
};

/** CertificateApproval, CertificateSigning, CertificateSubjectRestriction and ClusterTrustBundleAttest. */
export function signerAdmission({
  authorizer,
}: {
  readonly authorizer: Authorizer;
}): AdmissionPlugin {
  const demand = async (
    verb: Verb,
    signer: string,
    request: AdmissionRequest,
    signal: AbortSignal,
  ): Promise<void> => {
    // By name, or for all signers of a domain.
    for (const name of [signer, `${signer.split("/", 1)[0]}/*`]) {
      const attributes = {
        isResource: true,
        verb,
        group: "certificates.k8s.io",
        version: "*",
        resource: "signers",
        subresource: "",
        namespace: "",
        name,
      } as const;
      const { isAllowed } = await authorizer.authorize(request.user, attributes, signal);
      if (isAllowed) return;
    }
    throw refused(request, `user not permitted to ${refusals[verb]} signerName ${quote(signer)}`);
  };
  return {
    name: "Signers",
    handles: (resource, operation) =>
      operation !== "DELETE" && (isResource(resource, requests) || isResource(resource, bundles)),
    validate: (request, signal) => {
      const { object, old, resource, subresource } = request;
      if (object === undefined) return undefined;
      const signer = signerOf(object);
      if (isResource(resource, bundles)) {
        if (signer === "" || (old !== undefined && isHousekeeping(object, old))) return undefined;
        return demand("attest", signer, request, signal);
      }
      if (old === undefined) return refuseMasters(request, object);
      if (subresource === "approval") return demand("approve", signer, request, signal);
      if (subresource !== "status" || !isDecided(object, old)) return undefined;
      return demand("sign", signer, request, signal);
    },
  };
}

function signerOf(object: JsonObject): string {
  return textAt(objectAt(object, "spec"), "signerName");
}

/** Whether a certificate or a condition comes, changes or goes. */
function isDecided(object: JsonObject, old: JsonObject): boolean {
  const [now, before] = [objectAt(object, "status"), objectAt(old, "status")];
  return (
    textAt(now, "certificate") !== textAt(before, "certificate") ||
    !jsonEqual(memberOf(now, "conditions") ?? [], memberOf(before, "conditions") ?? [])
  );
}

/** Nobody asks for a certificate that may do everything, whoever would approve it. */
function refuseMasters(request: AdmissionRequest, object: JsonObject): undefined {
  if (signerOf(object) !== clientSigner) return undefined;
  const groups = requestedGroups(textAt(objectAt(object, "spec"), "request"));
  if (!groups.includes(mastersGroup)) return undefined;
  throw refused(request, `use of ${clientSigner} signer with ${mastersGroup} group is not allowed`);
}
