// What is asked of every Event. Both groups have the same Events, and call some of their fields by other names.

import type { JsonObject } from "@keelson/base";

import { byteLength } from "../../../go-text/byte-order.ts";
import { has, objectOf, textOf } from "../../../object/members.ts";
import { dnsSubdomainProblems, labelKeyProblems } from "../../../object/names.ts";
import type { FieldError } from "../../../status/field-error.ts";
import { Place } from "../place.ts";

/** What a group calls the fields that the other one calls by another name. */
export interface EventFields {
  readonly about: "involvedObject" | "regarding";
  readonly reporter: "reportingComponent" | "reportingController";
  readonly text: "message" | "note";
}

const wordBytesMax = 128;
const textBytesMax = 1024;

/** Errors tell of a field by its name in the older group, and of the reporter alone by the one that was sent. */
export function anyEventErrors(event: JsonObject, fields: EventFields): FieldError[] {
  const at = Place.root("");
  const namespace = textOf(objectOf(event, "metadata"), "namespace");
  const other = textOf(objectOf(event, fields.about), "namespace");
  // Old clients send no time, and little else.
  const isOld = !has(event, "eventTime");
  const isAtHome = isOld
    ? namespace === other || (other === "" && namespace === "default")
    : other !== "" || namespace === "default" || namespace === "kube-system";
  if (!isAtHome) {
    const place = at.child("involvedObject").child("namespace");
    place.invalid(other, "does not match event.namespace");
  }
  if (!isOld) {
    const reporter = textOf(event, fields.reporter);
    if (reporter === "") at.child(fields.reporter).required();
    at.child(fields.reporter).invalidEach(reporter, labelKeyProblems(reporter));
    for (const name of ["reportingInstance", "action", "reason"]) {
      const word = textOf(event, name);
      if (word === "") at.child(name).required();
      checkLength(word, at.child(name), wordBytesMax);
    }
    checkLength(textOf(event, fields.text), at.child("message"), textBytesMax);
  }
  at.child("namespace").invalidEach(namespace, dnsSubdomainProblems(namespace));
  return at.errors;
}

function checkLength(text: string, at: Place, bytesMax: number): void {
  if (byteLength(text) > bytesMax) at.invalid("", `can have at most ${bytesMax} characters`);
}
