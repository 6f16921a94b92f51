// Where a webhook is called: by URL, or as a service of the cluster.

import type { JsonObject } from "@keelson/base";

import { has, numberOf, textOf } from "../../../object/members.ts";
import { dnsSubdomainProblems } from "../../../object/names.ts";
import {
  childPath,
  invalidField,
  requiredField,
  type FieldError,
} from "../../../status/field-error.ts";
import { caBundleProblem } from "./ca-bundle.ts";
import { parseGoUrl } from "./go-url.ts";

const form = "; desired format: https://host[/path]";

export function validateWebhookUrl(url: string, path: string): FieldError[] {
  const parsed = parseGoUrl(url);
  if (parsed.error !== undefined) {
    return [requiredField(path, `url must be a valid URL: ${parsed.error}${form}`)];
  }
  const { scheme, host, user, fragment, query } = parsed.url;
  const errors: FieldError[] = [];
  if (scheme !== "https") {
    errors.push(invalidField(path, scheme, `'https' is the only allowed URL scheme${form}`));
  }
  if (host === "") errors.push(invalidField(path, host, `host must be specified${form}`));
  if (user !== undefined) {
    errors.push(invalidField(path, user, "user information is not permitted in the URL"));
  }
  if (fragment !== "") {
    errors.push(invalidField(path, fragment, "fragments are not permitted in the URL"));
  }
  if (query !== "") {
    errors.push(invalidField(path, query, "query parameters are not permitted in the URL"));
  }
  return errors;
}

/** A service that is called. The real server takes its two names for one another, so a missing one is said of the other. */
export function validateWebhookService(service: JsonObject, path: string): FieldError[] {
  const errors: FieldError[] = [];
  if (textOf(service, "namespace") === "") errors.push(requiredField(childPath(path, "name")));
  if (textOf(service, "name") === "") errors.push(requiredField(childPath(path, "namespace")));
  const port = numberOf(service, "port");
  if (port < 1 || port > 65535) {
    const detail = "port is not valid: must be between 1 and 65535, inclusive";
    errors.push(invalidField(childPath(path, "port"), port, detail));
  }
  if (has(service, "path")) {
    return [...errors, ...validateServicePath(textOf(service, "path"), childPath(path, "path"))];
  }
  return errors;
}

function validateServicePath(urlPath: string, path: string): FieldError[] {
  if (urlPath === "/" || urlPath === "") return [];
  if (urlPath === "//") return [invalidField(path, urlPath, "segment[0] may not be empty")];
  const errors: FieldError[] = [];
  if (!urlPath.startsWith("/")) errors.push(invalidField(path, urlPath, "must start with a '/'"));
  // Go takes away a byte, which is not the whole of a longer character.
  const rest = urlPath.replace(/^[\0-\x7f]/, "");
  const steps = rest.replace(/\/$/, "").split("/");
  for (const [index, step] of steps.entries()) {
    if (step === "") {
      errors.push(invalidField(path, urlPath, `segment[${index}] may not be empty`));
      continue;
    }
    for (const problem of dnsSubdomainProblems(step)) {
      errors.push(invalidField(path, urlPath, `segment[${index}]: ${problem}`));
    }
  }
  return errors;
}

/** Certificates that are to be trusted, as base64 of PEM. */
export function validateCaBundle(base64: string, path: string): FieldError[] {
  const problem = caBundleProblem(base64);
  return problem === undefined ? [] : [invalidField(path, base64, problem)];
}
