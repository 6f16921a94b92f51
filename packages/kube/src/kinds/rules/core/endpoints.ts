import type { JsonObject } from "@keelson/base";

import {
  listOf,
  maybeText,
  numberOf,
  objectOf,
  objectsOf,
  textOf,
} from "../../../object/members.ts";
import { dnsLabelProblems, dnsSubdomainProblems, labelKeyProblems } from "../../../object/names.ts";
import { memberOf } from "../../../object/member.ts";
import type { KindRules } from "../../kind-rules.ts";
import { addressWarnings, checkAddress, checkEndpointAddress } from "../addresses.ts";
import { Place } from "../place.ts";
import { semanticEqual } from "../semantic-equal.ts";
import { portProblems } from "../text-problems.ts";
import { protocols } from "./pod/container.ts";

const lists = ["addresses", "notReadyAddresses"] as const;

export const endpointsRules: KindRules = {
  validate: (endpoints) => validateSubsets(endpoints),
  validateUpdate: (endpoints, old) =>
    semanticEqual(memberOf(endpoints, "subsets"), memberOf(old, "subsets"))
      ? []
      : validateSubsets(endpoints),
  warnings: (endpoints) => {
    const labels = objectOf(objectOf(endpoints, "metadata"), "labels");
    if (textOf(labels, "endpoints.kubernetes.io/managed-by") === "endpoint-controller") return [];
    return objectsOf(endpoints, "subsets").flatMap((subset, index) =>
      lists.flatMap((list) =>
        objectsOf(subset, list).flatMap((address, position) =>
          addressWarnings(textOf(address, "ip"), `subsets[${index}].${list}[${position}].ip`),
        ),
      ),
    );
  },
};

function validateSubsets(endpoints: JsonObject): Place["errors"] {
  const at = Place.root("subsets");
  for (const [index, subset] of objectsOf(endpoints, "subsets").entries()) {
    const place = at.item(index);
    if (lists.every((list) => listOf(subset, list).length === 0)) {
      place.required("must specify `addresses` or `notReadyAddresses`");
    }
    for (const list of lists) {
      for (const [position, address] of objectsOf(subset, list).entries()) {
        checkOne(address, place.child(list).item(position));
      }
    }
    const ports = objectsOf(subset, "ports");
    for (const [position, port] of ports.entries()) {
      checkPort(port, place.child("ports").item(position), { needsName: ports.length > 1 });
    }
  }
  return at.errors;
}

function checkOne(address: JsonObject, at: Place): void {
  const ip = textOf(address, "ip");
  checkAddress(ip, at.child("ip"));
  const hostname = textOf(address, "hostname");
  if (hostname !== "") at.child("hostname").invalidEach(hostname, dnsLabelProblems(hostname));
  const node = maybeText(address, "nodeName");
  if (node !== undefined) at.child("nodeName").invalidEach(node, dnsSubdomainProblems(node));
  checkEndpointAddress(ip, at.child("ip"));
}

function checkPort(
  port: JsonObject,
  at: Place,
  { needsName }: { readonly needsName: boolean },
): void {
  const name = textOf(port, "name");
  if (name !== "") at.child("name").invalidEach(name, dnsLabelProblems(name));
  else if (needsName) at.child("name").required();
  const number = numberOf(port, "port");
  at.child("port").invalidEach(number, portProblems(number));
  const protocol = textOf(port, "protocol");
  if (protocol === "") at.child("protocol").required();
  else if (!protocols.includes(protocol)) at.child("protocol").notSupported(protocol, protocols);
  const application = maybeText(port, "appProtocol");
  if (application !== undefined) {
    at.child("appProtocol").invalidEach(application, labelKeyProblems(application));
  }
}
