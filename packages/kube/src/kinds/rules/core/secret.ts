import { isJsonObject, readJson, type JsonObject, type MutableJsonObject } from "@keelson/base";

import { base64Bytes, decodeText, encodeText } from "../../../go-text/base64.ts";
import { jsonTypeName } from "../../../go-text/json-type-name.ts";
import {
  annotationsOf,
  has,
  maybeObject,
  objectOf,
  sortedKeys,
  textOf,
  writableOrMade,
} from "../../../object/members.ts";
import type { KindRules } from "../../kind-rules.ts";
import { goJsonError } from "../go-json-error.ts";
import { Place } from "../place.ts";
import { configKeyProblems } from "../text-problems.ts";
import { checkFrozen, configBytesMax } from "./config-map.ts";
import { keyPairWarnings } from "./key-pair-warnings.ts";

export const secretRules: KindRules = {
  prepareForCreate: mergeStringData,
  prepareForUpdate: (secret, old) => {
    mergeStringData(secret);
    if (textOf(secret, "type") === "" && has(old, "type")) secret["type"] = textOf(old, "type");
  },
  validate: (secret) => {
    const at = Place.root("");
    checkSecret(secret, at);
    return at.errors;
  },
  validateUpdate: (secret, old) => {
    const at = Place.root("");
    const type = textOf(secret, "type");
    if (type !== textOf(old, "type")) at.child("type").invalidWord(type, "field is immutable");
    checkFrozen(secret, old, { at, members: ["data"] });
    checkSecret(secret, at);
    return at.errors;
  },
  warnings: (secret) => {
    if (textOf(secret, "type") !== "kubernetes.io/tls") return [];
    const data = objectOf(secret, "data");
    const [certificate = "", key = ""] = ["tls.crt", "tls.key"].map((name) =>
      decodeText(textOf(data, name)),
    );
    return keyPairWarnings(certificate, key);
  },
};

/** Texts are written, bytes are kept. */
function mergeStringData(secret: MutableJsonObject): void {
  const texts = maybeObject(secret, "stringData");
  if (texts !== undefined) {
    const data = writableOrMade(secret, "data");
    for (const key of Object.keys(texts)) {
      Object.defineProperty(data, key, {
        value: encodeText(textOf(texts, key)),
        writable: true,
        enumerable: true,
        configurable: true,
      });
    }
    if (Object.keys(data).length === 0) delete secret["data"];
  }
  delete secret["stringData"];
}

function checkSecret(secret: JsonObject, at: Place): void {
  const data = objectOf(secret, "data");
  const place = at.child("data");
  let bytes = 0;
  for (const key of sortedKeys(data)) {
    place.key(key).invalidEach(key, configKeyProblems(key));
    bytes += base64Bytes(textOf(data, key));
  }
  if (bytes > configBytesMax) place.tooLong(configBytesMax);
  const require = (...keys: readonly string[]): void => {
    for (const key of keys) if (!has(data, key)) place.key(key).required();
  };
  switch (textOf(secret, "type")) {
    case "kubernetes.io/service-account-token": {
      const key = "kubernetes.io/service-account.name";
      const annotations = annotationsOf(secret);
      if (textOf(annotations, key) === "") {
        at.child("metadata").child("annotations").key(key).required();
      }
      return;
    }
    case "kubernetes.io/dockercfg":
      checkJson(data, place, ".dockercfg");
      return;
    case "kubernetes.io/dockerconfigjson":
      checkJson(data, place, ".dockerconfigjson");
      return;
    case "kubernetes.io/basic-auth":
      if (!has(data, "username") && !has(data, "password")) require("username", "password");
      return;
    case "kubernetes.io/ssh-auth":
      if (textOf(data, "ssh-privatekey") === "") place.key("ssh-privatekey").required();
      return;
    case "kubernetes.io/tls":
      require("tls.crt", "tls.key");
  }
}

function checkJson(data: JsonObject, at: Place, key: string): void {
  if (!has(data, key)) {
    at.key(key).required();
    return;
  }
  const text = decodeText(textOf(data, key));
  const problem = goJsonError(text) ?? wrongType(text);
  if (problem !== undefined) at.key(key).invalid("<secret contents redacted>", problem);
}

function wrongType(text: string): string | undefined {
  const value = readJson(text);
  if (value === null || isJsonObject(value)) return undefined;
  return `json: cannot unmarshal ${jsonTypeName(value)} into Go value of type map[string]interface {}`;
}
