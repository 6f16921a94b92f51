// The rules of EndpointSlices.

import type { JsonObject, MutableJsonObject } from "@keelson/base";

import {
  dnsLabelProblems,
  dnsSubdomainProblems,
  labelKeyProblems,
  labelValueProblems,
} from "../../../object/names.ts";
import type { FieldError } from "../../../status/field-error.ts";
import type { KindRules } from "../../kind-rules.ts";
import {
  addressWarnings,
  checkAddress,
  checkCanonicalAddress,
  checkEndpointAddress,
  isV6,
  parseAddress,
} from "../addresses.ts";
import {
  has,
  maybeText,
  objectOf,
  objectsOf,
  textOf,
  textsOf,
  writableObjects,
} from "../../../object/members.ts";
import { checkDomainName, checkImmutableWord, isSame } from "../meta/checks.ts";
import { Place } from "../place.ts";

const addressTypes = ["FQDN", "IPv4", "IPv6"];
const protocols = ["SCTP", "TCP", "UDP"];
const addressesMax = 100;
const portsMax = 20_000;
const endpointsMax = 1000;
const hintsMax = 8;

export const endpointSlice: KindRules = {
  prepareForCreate: (object) => dropTopology(object, undefined),
  prepareForUpdate: dropTopology,
  validate: (object) => sliceErrors(object, undefined),
  validateUpdate: (object, old) => {
    const errors = sliceErrors(object, old);
    const at = Place.root("addressType", errors);
    checkImmutableWord(textOf(object, "addressType"), textOf(old, "addressType"), at);
    return errors;
  },
  warnings: (object, old) => {
    const isDeprecated = old === undefined && textOf(object, "addressType") === "FQDN";
    const first = isDeprecated ? ["spec.addressType: FQDN endpoints are deprecated"] : [];
    const labels = objectOf(objectOf(object, "metadata"), "labels");
    const manager = textOf(labels, "endpointslice.kubernetes.io/managed-by");
    if (controllers.includes(manager)) return first;
    const addresses = objectsOf(object, "endpoints").flatMap((endpoint, index) =>
      textsOf(endpoint, "addresses").flatMap((address, place) =>
        addressWarnings(address, `endpoints[${index}].addresses[${place}]`),
      ),
    );
    return [...first, ...addresses];
  },
};

const controllers = ["endpointslice-controller.k8s.io", "endpointslicemirroring-controller.k8s.io"];

const hostname = "kubernetes.io/hostname";

/** The old labels of an endpoint cannot be written any more; the node they named is kept. */
function dropTopology(object: MutableJsonObject, old: JsonObject | undefined): void {
  if (old !== undefined && isSame(object["endpoints"], old["endpoints"])) return;
  const known = new Set(
    objectsOf(old ?? {}, "endpoints").map((endpoint) =>
      textOf(objectOf(endpoint, "deprecatedTopology"), hostname),
    ),
  );
  for (const endpoint of writableObjects(object, "endpoints")) {
    const node = textOf(objectOf(endpoint, "deprecatedTopology"), hostname);
    const isKnown = node !== "" && known.has(node) && dnsSubdomainProblems(node).length === 0;
    if (isKnown && !has(endpoint, "nodeName")) endpoint["nodeName"] = node;
    delete endpoint["deprecatedTopology"];
  }
}

function sliceErrors(object: JsonObject, old: JsonObject | undefined): FieldError[] {
  const at = Place.root("addressType");
  const type = textOf(object, "addressType");
  if (type === "") at.required();
  else if (!addressTypes.includes(type)) at.notSupported(type, addressTypes);
  checkPorts(objectsOf(object, "ports"), Place.root("ports", at.errors));
  const endpoints = Place.root("endpoints");
  checkEndpoints(objectsOf(object, "endpoints"), endpoints, type);
  // What was there before may be there again, whatever is wrong with it.
  const isOld = old !== undefined && isSame(object["endpoints"], old["endpoints"]);
  return isOld ? at.errors : [...at.errors, ...endpoints.errors];
}

function checkPorts(ports: readonly JsonObject[], at: Place): void {
  if (ports.length > portsMax) {
    at.tooMany(ports.length, portsMax);
    return;
  }
  const names = new Set<string>();
  for (const [index, port] of ports.entries()) {
    const place = at.item(index);
    const name = textOf(port, "name");
    if (name !== "") place.child("name").invalidEach(name, dnsLabelProblems(name));
    if (names.has(name)) place.child("name").duplicateWord(name);
    names.add(name);
    const protocol = maybeText(port, "protocol");
    if (protocol === undefined) place.child("protocol").required();
    else if (!protocols.includes(protocol))
      place.child("protocol").notSupported(protocol, protocols);
    const application = maybeText(port, "appProtocol");
    if (application !== undefined) {
      place.child("appProtocol").invalidEach(application, labelKeyProblems(application));
    }
  }
}

function checkEndpoints(endpoints: readonly JsonObject[], at: Place, type: string): void {
  if (endpoints.length > endpointsMax) {
    at.tooMany(endpoints.length, endpointsMax);
    return;
  }
  for (const [index, endpoint] of endpoints.entries()) {
    const place = at.item(index);
    checkAddresses(textsOf(endpoint, "addresses"), place.child("addresses"), type);
    const node = maybeText(endpoint, "nodeName");
    if (node !== undefined) place.child("nodeName").invalidEach(node, dnsSubdomainProblems(node));
    const host = maybeText(endpoint, "hostname");
    if (host !== undefined) place.child("hostname").invalidEach(host, dnsLabelProblems(host));
    if (has(endpoint, "hints")) checkHints(objectOf(endpoint, "hints"), place.child("hints"));
  }
}

function checkAddresses(addresses: readonly string[], at: Place, type: string): void {
  if (addresses.length === 0) at.required("must contain at least 1 address");
  else if (addresses.length > addressesMax) at.tooMany(addresses.length, addressesMax);
  for (const [index, address] of addresses.entries()) {
    const place = at.item(index);
    switch (type) {
      case "IPv4":
        if (!checkAddress(address, place)) break;
        if (isIpv6(address)) at.invalid(address, "must be an IPv4 address");
        checkEndpointAddress(address, place);
        break;
      case "IPv6":
        if (!checkCanonicalAddress(address, place)) break;
        if (!isIpv6(address)) at.invalid(address, "must be an IPv6 address");
        checkEndpointAddress(address, place);
        break;
      case "FQDN":
        checkDomainName(address, place);
        break;
      default:
    }
  }
}

function isIpv6(text: string): boolean {
  const address = parseAddress(text);
  return address !== undefined && isV6(address);
}

function checkHints(hints: JsonObject, at: Place): void {
  const isWithin = checkNames(objectsOf(hints, "forZones"), at.child("forZones"), (name) =>
    labelValueProblems(name),
  );
  if (!isWithin) return;
  checkNames(objectsOf(hints, "forNodes"), at.child("forNodes"), (name) =>
    dnsSubdomainProblems(name),
  );
}

/** Whether there are not too many. */
function checkNames(
  hints: readonly JsonObject[],
  at: Place,
  problemsOf: (name: string) => readonly string[],
): boolean {
  if (hints.length > hintsMax) {
    at.tooMany(hints.length, hintsMax);
    return false;
  }
  const seen = new Set<string>();
  for (const [index, hint] of hints.entries()) {
    const name = textOf(hint, "name");
    const place = at.item(index).child("name");
    if (seen.has(name)) place.duplicate(name);
    seen.add(name);
    place.invalidEach(name, problemsOf(name));
  }
  return true;
}
