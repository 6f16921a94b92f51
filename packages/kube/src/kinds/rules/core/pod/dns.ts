// Names that a Pod has and finds.

import type { JsonObject } from "@keelson/base";

import { byteLength } from "../../../../go-text/byte-order.ts";
import {
  flagOf,
  maybeObject,
  maybeText,
  objectsOf,
  textOf,
  textsOf,
} from "../../../../object/members.ts";
import { dnsSubdomainProblems } from "../../../../object/names.ts";
import { checkAddress } from "../../addresses.ts";
import type { Place } from "../../place.ts";
import { lenientSubdomainProblems } from "../../text-problems.ts";

const nameserversMax = 3;
const searchesMax = 32;
const searchBytesMax = 2048;

export function checkDnsConfig(spec: JsonObject, at: Place): void {
  const config = maybeObject(spec, "dnsConfig");
  const servers = textsOf(config ?? {}, "nameservers");
  if (textOf(spec, "dnsPolicy") === "None") {
    if (config === undefined) {
      at.required("must provide `dnsConfig` when `dnsPolicy` is None");
      return;
    }
    if (servers.length === 0) {
      at.child("nameservers").required(
        "must provide at least one DNS nameserver when `dnsPolicy` is None",
      );
      return;
    }
  }
  if (config === undefined) return;
  if (servers.length > nameserversMax) {
    at.child("nameservers").invalid(
      servers,
      `must not have more than ${nameserversMax} nameservers`,
    );
  }
  for (const [index, server] of servers.entries()) {
    checkAddress(server, at.child("nameservers").item(index));
  }
  const searches = textsOf(config, "searches");
  if (searches.length > searchesMax) {
    at.child("searches").invalid(searches, `must not have more than ${searchesMax} search paths`);
  }
  if (byteLength(searches.join(" ")) > searchBytesMax) {
    at.child("searches").invalid(
      searches,
      `must not have more than ${searchBytesMax} characters (including spaces) in the search list`,
    );
  }
  for (const [index, search] of searches.entries()) {
    if (search === ".") continue;
    const name = search.endsWith(".") ? search.slice(0, -1) : search;
    at.child("searches").item(index).invalidEach(name, lenientSubdomainProblems(name));
  }
  for (const [index, option] of objectsOf(config, "options").entries()) {
    if (textOf(option, "name") === "")
      at.child("options").item(index).required("must not be empty");
  }
}

export function checkHostAliases(spec: JsonObject, at: Place): void {
  for (const [index, alias] of objectsOf(spec, "hostAliases").entries()) {
    checkAddress(textOf(alias, "ip"), at.item(index).child("ip"));
    for (const [position, name] of textsOf(alias, "hostnames").entries()) {
      at.item(index)
        .child("hostnames")
        .item(position)
        .invalidEach(name, dnsSubdomainProblems(name));
    }
  }
}

export function checkHostnameOverride(spec: JsonObject, at: Place): void {
  const name = maybeText(spec, "hostnameOverride");
  if (name === undefined) return;
  const place = at.child("hostnameOverride");
  if (flagOf(spec, "setHostnameAsFQDN")) {
    place.forbidden("may not be specified when setHostnameAsFQDN is true");
  }
  if (flagOf(spec, "hostNetwork")) place.forbidden("may not be specified when hostNetwork is true");
  if (byteLength(name) > 64) place.tooLong(64);
  place.invalidEach(name, dnsSubdomainProblems(name));
}
