// Groups of the Kubernetes community, whose definitions say who approved them.

import type { JsonObject } from "@keelson/base";

import { quote } from "../go-text/quote.ts";
import { parseGoUrl } from "../kinds/rules/meta/go-url.ts";
import { annotationsOf, textOf } from "../object/members.ts";

/** The annotation that names the approval. */
export const approvalAnnotation = "api-approved.kubernetes.io";

interface Approval {
  readonly state: "Invalid" | "Approved" | "Bypassed" | "Missing";
  readonly reason: string;
}

/** Whether a group belongs to the community. */
export function isProtectedGroup(group: string): boolean {
  return /(?:^|\.)(?:k8s|kubernetes)\.io$/.test(group);
}

/** What the annotations of a definition say of its approval. */
export function approvalOf(definition: JsonObject): Approval {
  const annotation = textOf(annotationsOf(definition), approvalAnnotation);
  const must = `protected groups must have approval annotation ${quote(approvalAnnotation)}`;
  const see = "see https://github.com/kubernetes/enhancements/pull/1111";
  if (annotation === "") return { state: "Missing", reason: `${must}, ${see}` };
  if (annotation.startsWith("unapproved")) {
    return { state: "Bypassed", reason: `not approved: ${quote(annotation)}` };
  }
  const { url } = parseGoUrl(annotation);
  if (url !== undefined && url.host !== "" && url.scheme !== "") {
    return { state: "Approved", reason: `approved in ${annotation}` };
  }
  const either = `with either a URL or a reason starting with "unapproved"`;
  return { state: "Invalid", reason: `${must} ${either}, ${see}` };
}
