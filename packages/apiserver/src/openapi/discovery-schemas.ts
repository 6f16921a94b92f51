// The types of the documents of discovery. The data of built-in kinds has only what objects are made of.

import type { BuiltinKinds } from "@keelson/kube";

const text = { type: "string" } as const;
const requiredText = { type: "string", default: "" } as const;

const list = (type: string) =>
  ({
    type: "array",
    items: { default: {}, $ref: type },
    "x-kubernetes-list-type": "atomic",
  }) as const;

const addresses = list("meta.v1.ServerAddressByClientCIDR");

/** As `BuiltinKinds.schemas` has its own. */
export const discoverySchemas: BuiltinKinds["schemas"] = {
  "meta.v1.APIGroup": {
    type: "object",
    required: ["name", "versions"],
    properties: {
      apiVersion: text,
      kind: text,
      name: requiredText,
      preferredVersion: { default: {}, $ref: "meta.v1.GroupVersionForDiscovery" },
      serverAddressByClientCIDRs: addresses,
      versions: list("meta.v1.GroupVersionForDiscovery"),
    },
  },
  "meta.v1.APIGroupList": {
    type: "object",
    required: ["groups"],
    properties: { apiVersion: text, groups: list("meta.v1.APIGroup"), kind: text },
  },
  "meta.v1.APIVersions": {
    type: "object",
    required: ["versions", "serverAddressByClientCIDRs"],
    properties: {
      apiVersion: text,
      kind: text,
      serverAddressByClientCIDRs: addresses,
      versions: { type: "array", items: requiredText, "x-kubernetes-list-type": "atomic" },
    },
  },
  "meta.v1.GroupVersionForDiscovery": {
    type: "object",
    required: ["groupVersion", "version"],
    properties: { groupVersion: requiredText, version: requiredText },
  },
  "meta.v1.ServerAddressByClientCIDR": {
    type: "object",
    required: ["clientCIDR", "serverAddress"],
    properties: { clientCIDR: requiredText, serverAddress: requiredText },
  },
  "version.Info": {
    type: "object",
    required: [
      "major",
      "minor",
      "gitVersion",
      "gitCommit",
      "gitTreeState",
      "buildDate",
      "goVersion",
      "compiler",
      "platform",
    ],
    properties: {
      buildDate: requiredText,
      compiler: requiredText,
      emulationMajor: text,
      emulationMinor: text,
      gitCommit: requiredText,
      gitTreeState: requiredText,
      gitVersion: requiredText,
      goVersion: requiredText,
      major: requiredText,
      minCompatibilityMajor: text,
      minCompatibilityMinor: text,
      minor: requiredText,
      platform: requiredText,
    },
  },
};
