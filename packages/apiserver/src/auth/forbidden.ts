// The refusal of what the authoriser does not allow (KB 53).

import { failures, type StatusError } from "@keelson/kube";

import type { Attributes } from "./authorizer.ts";
import type { User } from "./user.ts";

/** 403: who may not do what, and why, if the authoriser says so. */
export function forbidden(user: User, attributes: Attributes, reason: string): StatusError {
  const { verb } = attributes;
  const because = reason === "" ? "" : `: ${reason}`;
  if (!attributes.isResource) {
    const what = failures.cannotPath(user.name, verb, attributes.path);
    return failures.forbidden(undefined, "", `${harmless(what)}${because}`);
  }
  const { group, resource, subresource, namespace, name } = attributes;
  const whole = { group, resource: subresource === "" ? resource : `${resource}/${subresource}` };
  const where = namespace === "" ? undefined : namespace;
  const what = failures.cannot(user.name, verb, whole, where);
  return failures.forbidden({ group, resource }, name, `${harmless(what)}${because}`);
}

/** Nothing in it may look like HTML: old browsers guess. */
function harmless(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
