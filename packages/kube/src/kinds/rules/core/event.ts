import type { JsonObject } from "@keelson/base";

import { byteLength } from "../../../go-text/byte-order.ts";
import { dnsSubdomainProblems, labelKeyProblems, pathSegmentNames } from "../../../object/names.ts";
import type { KindRules } from "../../kind-rules.ts";
import { has, objectOf, textOf } from "../members.ts";
import { Place } from "../place.ts";

/** Events of the core group: old clients send little, so that little is asked. */
export const eventRules: KindRules = {
  names: pathSegmentNames,
  takesBareFinalizers: true,
  validate: (event) => validateEvent(event),
  validateUpdate: (event) => validateEvent(event),
};

const bytesMax: readonly (readonly [name: string, max: number, isRequired: boolean])[] = [
  ["reportingInstance", 128, true],
  ["action", 128, true],
  ["reason", 128, true],
  ["message", 1024, false],
];

function validateEvent(event: JsonObject): Place["errors"] {
  const at = Place.root("");
  const namespace = textOf(objectOf(event, "metadata"), "namespace");
  const involved = textOf(objectOf(event, "involvedObject"), "namespace");
  const refuse = (): void =>
    Place.root("involvedObject", at.errors)
      .child("namespace")
      .invalid(involved, "does not match event.namespace");
  if (!has(event, "eventTime")) {
    const isRight =
      involved === "" ? namespace === "" || namespace === "default" : namespace === involved;
    if (!isRight) refuse();
  } else {
    if (involved === "" && namespace !== "default" && namespace !== "kube-system") refuse();
    const reporter = textOf(event, "reportingComponent");
    if (reporter === "") at.child("reportingComponent").required();
    at.child("reportingComponent").invalidEach(reporter, labelKeyProblems(reporter));
    for (const [name, max, isRequired] of bytesMax) {
      const value = textOf(event, name);
      if (isRequired && value === "") at.child(name).required();
      if (byteLength(value) > max) at.child(name).invalid("", `can have at most ${max} characters`);
    }
  }
  at.child("namespace").invalidEach(namespace, dnsSubdomainProblems(namespace));
  return at.errors;
}
