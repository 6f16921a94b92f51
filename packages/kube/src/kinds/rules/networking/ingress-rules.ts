// The rules of Ingresses.

import type { JsonObject } from "@keelson/base";

import {
  annotationsOf,
  has,
  maybeObject,
  maybeText,
  numberOf,
  objectOf,
  objectsOf,
  textOf,
  textsOf,
} from "../../../object/members.ts";
import {
  dns1035LabelProblems,
  dnsLabelProblems,
  dnsSubdomainProblems,
  pathSegmentProblems,
} from "../../../object/names.ts";
import type { FieldError } from "../../../status/field-error.ts";
import type { KindRules } from "../../kind-rules.ts";
import { checkAddress, parseAddress } from "../addresses.ts";
import { wildcardProblems } from "../meta/checks.ts";
import { Place } from "../place.ts";
import { portNameProblems, portProblems } from "../text-problems.ts";

const classAnnotation = "kubernetes.io/ingress.class";
const pathTypes = ["Exact", "ImplementationSpecific", "Prefix"];
const badSequences = ["//", "/./", "/../", "%2f", "%2F"];
const badEnds = ["/..", "/."];

interface Options {
  readonly allowsBadSecretName: boolean;
  readonly allowsBadWildcardRule: boolean;
  /** Names of services may begin with a digit, as they might before. */
  readonly allowsRelaxedService: boolean;
}

const strict: Options = {
  allowsBadSecretName: false,
  allowsBadWildcardRule: false,
  allowsRelaxedService: true,
};

export const ingress: KindRules = {
  validate: (object) => {
    const errors = specErrors(objectOf(object, "spec"), strict);
    const annotation = classOf(object);
    const className = maybeText(objectOf(object, "spec"), "ingressClassName");
    if (annotation !== undefined && className !== undefined && annotation !== className) {
      const detail = "must match `ingressClassName` when both are specified";
      Place.root("annotations", errors).child(classAnnotation).invalid(annotation, detail);
    }
    return errors;
  },
  validateUpdate: (object, old) => {
    const before = objectOf(old, "spec");
    return specErrors(objectOf(object, "spec"), {
      ...strict,
      allowsBadSecretName: objectsOf(before, "tls").some(
        (tls) => secretProblems(textOf(tls, "secretName")).length > 0,
      ),
      allowsBadWildcardRule: objectsOf(before, "rules").some((rule) => {
        const at = Place.root("");
        checkRuleValue(rule, at, { ...strict, allowsRelaxedService: false });
        return textOf(rule, "host").includes("*") && at.errors.length > 0;
      }),
    });
  },
  validateStatusUpdate: (object, old) => {
    const at = Place.root("status").child("loadBalancer").child("ingress");
    const pointsOf = (from: JsonObject): readonly JsonObject[] =>
      objectsOf(objectOf(objectOf(from, "status"), "loadBalancer"), "ingress");
    const existing = new Set(pointsOf(old).map((point) => textOf(point, "ip")));
    for (const [index, point] of pointsOf(object).entries()) {
      const place = at.item(index);
      const [ip, hostname] = [textOf(point, "ip"), textOf(point, "hostname")];
      if (ip !== "") checkAddress(ip, place.child("ip"), { existing });
      if (hostname === "") continue;
      place.child("hostname").invalidEach(hostname, dnsSubdomainProblems(hostname));
      if (parseAddress(hostname) !== undefined) {
        place.child("hostname").invalid(hostname, "must be a DNS name, not an IP address");
      }
    }
    return at.errors;
  },
  warnings: (object, old) => {
    const isDeprecated =
      old === undefined &&
      classOf(object) !== undefined &&
      !has(objectOf(object, "spec"), "ingressClassName");
    return isDeprecated
      ? [
          `annotation "${classAnnotation}" is deprecated, please use 'spec.ingressClassName' instead`,
        ]
      : [];
  },
};

function classOf(object: JsonObject): string | undefined {
  return maybeText(annotationsOf(object), classAnnotation);
}

function specErrors(spec: JsonObject, options: Options): FieldError[] {
  const at = Place.root("spec");
  const rules = objectsOf(spec, "rules");
  const backend = maybeObject(spec, "defaultBackend");
  if (rules.length === 0 && backend === undefined) {
    at.invalid(null, "either `defaultBackend` or `rules` must be specified");
  }
  if (backend !== undefined) checkBackend(backend, at.child("defaultBackend"), options);
  for (const [index, rule] of rules.entries()) {
    checkRule(rule, at.child("rules").item(index), options);
  }
  for (const [index, tls] of objectsOf(spec, "tls").entries()) {
    checkTls(tls, at.child("tls").item(index), options);
  }
  const className = maybeText(spec, "ingressClassName");
  if (className !== undefined) {
    at.child("ingressClassName").invalidEach(className, dnsSubdomainProblems(className));
  }
  return at.errors;
}

function hostProblems(host: string): readonly string[] {
  return host.includes("*") ? wildcardProblems(host) : dnsSubdomainProblems(host);
}

function secretProblems(name: string): readonly string[] {
  return name === "" ? [] : dnsSubdomainProblems(name);
}

function checkTls(tls: JsonObject, at: Place, options: Options): void {
  for (const [index, host] of textsOf(tls, "hosts").entries()) {
    at.child("hosts").item(index).invalidEach(host, hostProblems(host));
  }
  if (options.allowsBadSecretName) return;
  const secret = textOf(tls, "secretName");
  at.child("secretName").invalidEach(secret, secretProblems(secret));
}

function checkRule(rule: JsonObject, at: Place, options: Options): void {
  const host = textOf(rule, "host");
  if (host !== "") {
    if (parseAddress(host) !== undefined) {
      at.child("host").invalid(host, "must be a DNS name, not an IP address");
    }
    at.child("host").invalidEach(host, hostProblems(host));
  }
  if (!host.includes("*") || !options.allowsBadWildcardRule) checkRuleValue(rule, at, options);
}

function checkRuleValue(rule: JsonObject, at: Place, options: Options): void {
  const http = maybeObject(rule, "http");
  if (http === undefined) return;
  const place = at.child("http").child("paths");
  const paths = objectsOf(http, "paths");
  if (paths.length === 0) place.required();
  for (const [index, path] of paths.entries()) checkPath(path, place.item(index), options);
}

function checkPath(path: JsonObject, at: Place, options: Options): void {
  const type = maybeText(path, "pathType");
  const text = textOf(path, "path");
  if (type === undefined) {
    at.child("pathType").required("pathType must be specified");
    return;
  }
  const place = at.child("path");
  switch (type) {
    case "Exact":
    case "Prefix":
      if (!text.startsWith("/")) place.invalid(text, "must be an absolute path");
      for (const sequence of badSequences) {
        if (text.includes(sequence)) place.invalid(text, `must not contain '${sequence}'`);
      }
      for (const end of badEnds) {
        if (text.endsWith(end)) place.invalid(text, `cannot end with '${end}'`);
      }
      break;
    case "ImplementationSpecific":
      if (text !== "" && !text.startsWith("/")) place.invalid(text, "must be an absolute path");
      break;
    default:
      at.child("pathType").notSupported(type, pathTypes);
  }
  checkBackend(objectOf(path, "backend"), at.child("backend"), options);
}

function checkBackend(backend: JsonObject, at: Place, options: Options): void {
  const [resource, service] = [maybeObject(backend, "resource"), maybeObject(backend, "service")];
  if (resource !== undefined && service !== undefined) {
    at.invalid("", "cannot set both resource and service backends");
  } else if (resource !== undefined) {
    checkLocalReference(resource, at.child("resource"));
  } else if (service !== undefined) {
    checkService(service, at, options);
  } else {
    at.invalid("", "resource or service backend is required");
  }
}

function checkService(service: JsonObject, at: Place, options: Options): void {
  const name = textOf(service, "name");
  const place = at.child("service");
  if (name === "") place.child("name").required();
  else {
    const problems = options.allowsRelaxedService
      ? dnsLabelProblems(name)
      : dns1035LabelProblems(name);
    place.child("name").invalidEach(name, problems);
  }
  const port = objectOf(service, "port");
  const [portName, number] = [textOf(port, "name"), numberOf(port, "number")];
  if (portName !== "" && number !== 0) {
    at.invalid("", "cannot set both port name & port number");
  } else if (portName !== "") {
    place.child("port").child("name").invalidEach(portName, portNameProblems(portName));
  } else if (number !== 0) {
    place.child("port").child("number").invalidEach(number, portProblems(number));
  } else {
    at.required("port name or number is required");
  }
}

/** Reports what is wrong with a reference to an object of any kind. */
export function checkLocalReference(reference: JsonObject, at: Place): void {
  const group = maybeText(reference, "apiGroup");
  if (group !== undefined) at.child("apiGroup").invalidEach(group, dnsSubdomainProblems(group));
  for (const name of ["kind", "name"]) {
    const value = textOf(reference, name);
    if (value === "") at.child(name).required();
    else at.child(name).invalidEach(value, pathSegmentProblems(value));
  }
}
