// The rules of NetworkPolicies.

import type { JsonObject } from "@keelson/base";

import { memberOf } from "../../../object/member.ts";
import {
  has,
  maybeNumber,
  maybeObject,
  maybeText,
  objectOf,
  objectsOf,
  textOf,
  textsOf,
} from "../../../object/members.ts";
import type { FieldError } from "../../../status/field-error.ts";
import type { KindRules } from "../../kind-rules.ts";
import { checkNetwork, isStrictSubset, networkWarnings, parseNetwork } from "../addresses.ts";
import { checkLabelSelector, isInvalidSelector } from "../label-selectors.ts";
import { Place } from "../place.ts";
import { portNameProblems, portProblems } from "../text-problems.ts";

const protocols = ["TCP", "UDP", "SCTP"];
const policyTypes = ["Ingress", "Egress"];

interface Options {
  readonly allowInvalidValues: boolean;
  /** Networks that the old policy has: they may stay as they are. */
  readonly existing: ReadonlySet<string>;
}

export const networkPolicy: KindRules = {
  validate: (object) =>
    specErrors(objectOf(object, "spec"), { allowInvalidValues: false, existing: new Set() }),
  validateUpdate: (object, old) => {
    const oldSpec = objectOf(old, "spec");
    const existing = new Set(
      blocksOf(oldSpec).flatMap(({ block }) => [
        textOf(block, "cidr"),
        ...textsOf(block, "except"),
      ]),
    );
    const allowInvalidValues = isInvalidSelector(maybeObject(oldSpec, "podSelector"));
    return specErrors(objectOf(object, "spec"), { allowInvalidValues, existing });
  },
  warnings: (object) =>
    blocksOf(objectOf(object, "spec")).flatMap(({ block, path }) => [
      ...networkWarnings(textOf(block, "cidr"), `${path}.cidr`),
      ...textsOf(block, "except").flatMap((except, index) =>
        networkWarnings(except, `${path}.except[${index}]`),
      ),
    ]),
};

const directions = [
  ["ingress", "from"],
  ["egress", "to"],
] as const;

function blocksOf(
  spec: JsonObject,
): readonly { readonly block: JsonObject; readonly path: string }[] {
  return directions.flatMap(([list, peers]) =>
    objectsOf(spec, list).flatMap((rule, index) =>
      objectsOf(rule, peers).flatMap((peer, place) => {
        const block = maybeObject(peer, "ipBlock");
        const path = `spec.${list}[${index}].${peers}[${place}].ipBlock`;
        return block === undefined ? [] : [{ block, path }];
      }),
    ),
  );
}

function specErrors(spec: JsonObject, options: Options): readonly FieldError[] {
  const at = Place.root("spec");
  checkLabelSelector(objectOf(spec, "podSelector"), at.child("podSelector"), options);
  for (const [list, peers] of directions) {
    for (const [index, rule] of objectsOf(spec, list).entries()) {
      const place = at.child(list).item(index);
      for (const [number, port] of objectsOf(rule, "ports").entries()) {
        checkPort(port, place.child("ports").item(number));
      }
      for (const [number, peer] of objectsOf(rule, peers).entries()) {
        checkPeer(peer, place.child(peers).item(number), options);
      }
    }
  }
  const types = textsOf(spec, "policyTypes");
  if (types.length > policyTypes.length) {
    at.child("policyTypes").invalid(types, "may not specify more than two policyTypes");
    return at.errors;
  }
  for (const [index, type] of types.entries()) {
    if (!policyTypes.includes(type)) {
      at.child("policyTypes").item(index).notSupported(type, policyTypes);
    }
  }
  return at.errors;
}

function checkPort(port: JsonObject, at: Place): void {
  const protocol = maybeText(port, "protocol");
  if (protocol !== undefined && !protocols.includes(protocol)) {
    at.child("protocol").notSupported(protocol, protocols);
  }
  const number = memberOf(port, "port");
  const end = maybeNumber(port, "endPort");
  if (typeof number === "number") {
    at.child("port").invalidEach(number, portProblems(number));
    if (end === undefined) return;
    if (end < number) {
      at.child("endPort").invalid(number, "must be greater than or equal to `port`");
    }
    at.child("endPort").invalidEach(end, portProblems(end));
  } else if (typeof number === "string") {
    if (end !== undefined) {
      at.child("endPort").invalid(end, "may not be specified when `port` is non-numeric");
    }
    at.child("port").invalidEach(number, portNameProblems(number));
  } else if (end !== undefined) {
    at.child("endPort").invalid(end, "may not be specified when `port` is not specified");
  }
}

function checkPeer(peer: JsonObject, at: Place, options: Options): void {
  const selectors = ["podSelector", "namespaceSelector"].filter((name) => has(peer, name));
  for (const name of selectors) {
    checkLabelSelector(maybeObject(peer, name), at.child(name), options);
  }
  const block = maybeObject(peer, "ipBlock");
  if (block !== undefined) checkBlock(block, at.child("ipBlock"), options);
  if (selectors.length === 0 && block === undefined) at.required("must specify a peer");
  else if (selectors.length > 0 && block !== undefined) {
    at.forbidden("may not specify both ipBlock and another peer");
  }
}

function checkBlock(block: JsonObject, at: Place, { existing }: Options): void {
  const cidr = textOf(block, "cidr");
  if (cidr === "") {
    at.child("cidr").required();
    return;
  }
  checkNetwork(cidr, at.child("cidr"), { existing });
  const network = parseNetwork(cidr);
  if (network === undefined) return;
  for (const [index, except] of textsOf(block, "except").entries()) {
    const place = at.child("except").item(index);
    checkNetwork(except, place, { existing });
    const inner = parseNetwork(except);
    if (inner !== undefined && !isStrictSubset(inner, network)) {
      place.invalid(except, "must be a strict subset of `cidr`");
    }
  }
}
