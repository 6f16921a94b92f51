// The addresses of a Service inside the cluster, and their families.

import type { JsonObject } from "@keelson/base";

import { goJson } from "../../../go-text/go-json.ts";
import { listOf, maybeText, textOf, textsOf } from "../../../object/members.ts";
import type { FieldError } from "../../../status/field-error.ts";
import { checkAddress, isDualStack, isV6, parseAddress } from "../addresses.ts";
import { Place } from "../place.ts";

const families: readonly string[] = ["IPv4", "IPv6"];
const policies: readonly string[] = ["PreferDualStack", "RequireDualStack", "SingleStack"];

/** A Service without an address of its own. */
export function isHeadless(spec: JsonObject): boolean {
  const addresses = listOf(spec, "clusterIPs");
  return addresses.length === 1 && addresses[0] === "None";
}

/** What is wrong with the addresses and families that a spec asks for; told before any are given. */
export function clusterIpProblems(
  spec: JsonObject,
  old: JsonObject | undefined,
): readonly FieldError[] {
  const at = Place.root("spec");
  checkClusterIps(spec, at, old);
  return at.errors;
}

export function checkClusterIps(spec: JsonObject, at: Place, old: JsonObject | undefined): void {
  if (textOf(spec, "type") === "ExternalName") return;
  const place = at.child("clusterIPs");
  const [address, addresses] = [textOf(spec, "clusterIP"), textsOf(spec, "clusterIPs")];
  if (address === "") {
    if (addresses.length > 0) {
      place.invalid(addresses, "must be empty when `clusterIP` is not specified");
    }
  } else if (addresses.length === 0) place.required();
  else if (addresses[0] !== address) place.invalid(addresses, "first value must match `clusterIP`");
  checkFamilies(spec, at);
  const existing = new Set(textsOf(old ?? {}, "clusterIPs"));
  let isWrong = false;
  for (const [index, own] of addresses.entries()) {
    if (index === 0 && own === "None") {
      if (addresses.length > 1) {
        isWrong = true;
        place.invalid(addresses, "'None' must be the first and only value");
      }
      continue;
    }
    if (!checkAddress(own, place.item(index), { existing })) isWrong = true;
  }
  if (addresses.length > 2) place.invalid(addresses, "may only hold up to 2 values");
  if (isWrong) return;
  if (addresses.length > 1 && !isDualStack(addresses.map(parseAddress))) {
    place.invalid(addresses, "may specify no more than one IP for each IP family");
  }
  if (isHeadless(spec)) return;
  const own = textsOf(spec, "ipFamilies");
  for (const [index, text] of addresses.slice(0, own.length).entries()) {
    const parsed = parseAddress(text);
    const isSix = parsed !== undefined && isV6(parsed);
    const family = own[index];
    if ((family === "IPv4" && isSix) || (family === "IPv6" && !isSix)) {
      place
        .item(index)
        .invalid(text, `expected an ${family} value as indicated by \`ipFamilies[${index}]\``);
    }
  }
}

/** Reports addresses and families that may not change once they are set. */
export function checkClusterIpUpdate(spec: JsonObject, old: JsonObject, at: Place): void {
  if (textOf(spec, "type") === "ExternalName" || textOf(old, "type") === "ExternalName") return;
  if (!isHeadless(spec) || !isHeadless(old)) checkChangedAddresses(spec, old, at);
  if (!isHeadless(spec) && !isHeadless(old)) checkChangedFamilies(spec, old, at);
}

function checkFamilies(spec: JsonObject, at: Place): void {
  const seen = new Set<string>();
  for (const [index, family] of textsOf(spec, "ipFamilies").entries()) {
    const place = at.child("ipFamilies").item(index);
    if (!families.includes(family)) place.notSupported(family, families);
    if (seen.has(family)) place.duplicateWord(family);
    seen.add(family);
  }
  const policy = maybeText(spec, "ipFamilyPolicy");
  if (policy !== undefined && !policies.includes(policy)) {
    at.child("ipFamilyPolicy").notSupported(policy, policies);
  }
}

function checkChangedAddresses(spec: JsonObject, old: JsonObject, at: Place): void {
  const [next, before] = [textsOf(spec, "clusterIPs"), textsOf(old, "clusterIPs")];
  const place = at.child("clusterIPs");
  const shown = next.length === 0 ? null : next;
  if (next.length === before.length) {
    for (const [index, address] of before.entries()) {
      if (address !== next[index]) place.item(index).invalid(shown, "may not change once set");
    }
    return;
  }
  const isFirstChanged = next.length > 0 && before.length > 0 && next[0] !== before[0];
  if (next.length === 0) place.item(0).invalid(shown, "primary clusterIP can not be unset");
  if (isFirstChanged) place.item(0).invalid(shown, "may not change once set");
  if (before.length > next.length && next.length === 1) {
    checkReleased(spec, at, "secondary clusterIP");
  }
}

function checkChangedFamilies(spec: JsonObject, old: JsonObject, at: Place): void {
  const [next, before] = [textsOf(spec, "ipFamilies"), textsOf(old, "ipFamilies")];
  const addresses = textsOf(spec, "clusterIPs");
  const place = at.child("ipFamilies").item(0);
  if (next.length === before.length) {
    for (const [index, family] of before.entries()) {
      if (family !== next[index]) place.invalid(next, "may not change once set");
    }
    return;
  }
  if (before.length > next.length && addresses.length === 0) {
    place.invalid(next.length === 0 ? null : next, "primary ipFamily can not be unset");
  }
  if (next.length > 0 && before.length > 0 && next[0] !== before[0]) {
    place.invalid(addresses.length === 0 ? null : addresses, "may not change once set");
  }
  if (before.length > next.length && next.length === 1)
    checkReleased(spec, at, "secondary ipFamily");
}

function checkReleased(spec: JsonObject, at: Place, what: string): void {
  const policy = maybeText(spec, "ipFamilyPolicy");
  if (policy !== "SingleStack") {
    at.child("ipFamilyPolicy").invalidShown(
      goJson(policy ?? null),
      `must be set to 'SingleStack' when releasing the ${what}`,
    );
  }
}
