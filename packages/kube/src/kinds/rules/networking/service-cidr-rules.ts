// The rules of the addresses that services get.

import type { JsonObject } from "@keelson/base";

import { quote } from "../../../go-text/quote.ts";
import { printShape, struct } from "../../../go-text/struct-text.ts";
import { maybeObject, objectOf, textOf, textsOf } from "../../../object/members.ts";
import { dnsSubdomainProblems, pathSegmentProblems, type NameRule } from "../../../object/names.ts";
import type { FieldError } from "../../../status/field-error.ts";
import type { KindRules } from "../../kind-rules.ts";
import {
  checkCanonicalAddress,
  checkNetwork,
  isV6,
  parseNetwork,
  printNetwork,
} from "../addresses.ts";
import { checkImmutableShown } from "../meta/checks.ts";
import { Place } from "../place.ts";

const addressNames: NameRule = (name) => {
  const at = Place.root("name");
  checkCanonicalAddress(name, at);
  return at.errors.map(({ detail }) => detail);
};

const parentShape = struct(
  "Group group string\nResource resource string\nNamespace namespace string\nName name string",
);

export const ipAddress: KindRules = {
  names: addressNames,
  validate: addressErrors,
  validateUpdate: (object, old) => {
    const errors = addressErrors(object);
    const parentOf = (from: JsonObject): JsonObject | undefined =>
      maybeObject(objectOf(from, "spec"), "parentRef");
    checkImmutableShown(parentOf(object), parentOf(old), {
      at: Place.root("spec", errors).child("parentRef"),
      shown: () => printShape({ pointer: parentShape }, parentOf(object)),
    });
    return errors;
  },
};

function addressErrors(object: JsonObject): FieldError[] {
  const at = Place.root("spec").child("parentRef");
  const parent = maybeObject(objectOf(object, "spec"), "parentRef");
  if (parent === undefined) {
    at.required();
    return at.errors;
  }
  const group = textOf(parent, "group");
  if (group !== "") at.child("group").invalidEach(group, dnsSubdomainProblems(group));
  for (const name of ["resource", "name"]) {
    const value = textOf(parent, name);
    if (value === "") at.child(name).required();
    else at.child(name).invalidEach(value, pathSegmentProblems(value));
  }
  const namespace = textOf(parent, "namespace");
  if (namespace !== "") {
    at.child("namespace").invalidEach(namespace, pathSegmentProblems(namespace));
  }
  return at.errors;
}

export const serviceCidr: KindRules = {
  validate: (object) => {
    const at = Place.root("spec").child("cidrs");
    checkNetworks(textsOf(objectOf(object, "spec"), "cidrs"), at);
    return at.errors;
  },
  validateUpdate: (object, old) => {
    const at = Place.root("spec").child("cidrs");
    const next = textsOf(objectOf(object, "spec"), "cidrs");
    const before = textsOf(objectOf(old, "spec"), "cidrs");
    const keep = (index: number): void => {
      const network = next[index] ?? "";
      if (network !== before[index]) at.item(index).invalid(network, "field is immutable");
    };
    if (next.length === before.length) {
      for (const index of before.keys()) keep(index);
    } else if (before.length === 1 && next.length === 2) {
      // A second family may be added.
      keep(0);
      checkNetworks(next, at);
    } else {
      at.invalid(next.length === 0 ? null : next, "field is immutable");
    }
    return at.errors;
  },
};

function checkNetworks(networks: readonly string[], at: Place): void {
  if (networks.length === 0) {
    at.required("at least one CIDR required");
    return;
  }
  if (networks.length > 2) {
    const shown = printShape(struct("CIDRs cidrs []string"), { cidrs: networks });
    at.invalidShown(shown, "may only hold up to 2 values");
    return;
  }
  for (const [index, network] of networks.entries()) checkCanonical(network, at.item(index));
  const families = networks.map((text) => {
    const network = parseNetwork(text);
    return network === undefined ? undefined : isV6(network.address);
  });
  if (networks.length === 2 && families[0] === families[1] && families[0] !== undefined) {
    const detail =
      "may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64";
    at.invalid(networks, detail);
  }
}

function checkCanonical(text: string, at: Place): void {
  const before = at.errors.length;
  checkNetwork(text, at);
  if (at.errors.length > before) return;
  const network = parseNetwork(text);
  const usual = network === undefined ? text : printNetwork(network);
  if (usual !== text) at.invalid(text, `must be in canonical form (${quote(usual)})`);
}
