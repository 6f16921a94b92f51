// How a refusal names its object where it does not by group, kind and name.

import type { GroupKind } from "../../status/status.ts";

export interface Refused {
  readonly kind: GroupKind;
  readonly name: string;
}

/**
 * What `failures.invalid` is to be told of an object that the rules refuse. Events are refused by the name of their older
 * group, and questions about access by that of no kind at all.
 */
export function refusedAs({ group, kind }: GroupKind, name: string): Refused {
  if (group === "events.k8s.io") return { kind: { group: "", kind }, name };
  if (group === "authorization.k8s.io") return { kind: { group, kind: "" }, name: "" };
  return { kind: { group, kind }, name };
}
