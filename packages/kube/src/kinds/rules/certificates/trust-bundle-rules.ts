// The rules of ClusterTrustBundles.

import type { JsonObject } from "@keelson/base";

import { byteLength } from "../../../go-text/byte-order.ts";
import { objectOf, textOf } from "../../../object/members.ts";
import { subdomainNames, type NameRule } from "../../../object/names.ts";
import type { FieldError } from "../../../status/field-error.ts";
import type { KindRules } from "../../kind-rules.ts";
import { checkImmutable, checkNames } from "../meta/checks.ts";
import { authorityOf, certificateProblem } from "../meta/certificate-form.ts";
import { pemBlocks, type PemBlock } from "../meta/pem.ts";
import { Place } from "../place.ts";
import { checkSignerName } from "./signer-name.ts";

const bytesMax = 1024 * 1024;

export const clusterTrustBundle: KindRules = {
  namesFor,
  validate: (object) => bundleErrors(object, undefined),
  validateUpdate: (object, old) => {
    const names = Place.root("metadata");
    checkNames(object, namesFor(object), names);
    const errors = [...names.errors, ...bundleErrors(object, old)];
    const signerOf = (from: JsonObject): string => textOf(objectOf(from, "spec"), "signerName");
    const at = Place.root("spec", errors).child("signerName");
    checkImmutable(signerOf(object), signerOf(old), at);
    return errors;
  },
};

function namesFor(object: JsonObject): NameRule {
  const signer = textOf(objectOf(object, "spec"), "signerName");
  if (signer === "") {
    return (name, options) =>
      name.includes(":")
        ? ['ClusterTrustBundle without signer name must not have ":" in its name']
        : subdomainNames(name, options);
  }
  const prefix = `${signer.replaceAll("/", ":")}:`;
  return (name, options) =>
    name.startsWith(prefix)
      ? subdomainNames(name.slice(prefix.length), options)
      : [`ClusterTrustBundle for signerName ${signer} must be named with prefix ${prefix}`];
}

function bundleErrors(object: JsonObject, old: JsonObject | undefined): FieldError[] {
  const at = Place.root("spec");
  const spec = objectOf(object, "spec");
  const signer = textOf(spec, "signerName");
  if (signer !== "") checkSignerName(signer, at.child("signerName"));
  const bundle = textOf(spec, "trustBundle");
  const isKept = old !== undefined && bundle === textOf(objectOf(old, "spec"), "trustBundle");
  if (!isKept) checkBundle(bundle, at.child("trustBundle"));
  return at.errors;
}

function checkBundle(bundle: string, at: Place): void {
  if (byteLength(bundle) > bytesMax) {
    at.tooLong(bytesMax);
    return;
  }
  const blocks = pemBlocks(bundle);
  const problems = blocks.flatMap((block, index) => {
    const problem = blockProblem(block);
    return problem === undefined ? [] : [`entry ${index} ${problem}`];
  });
  if (problems.length === 0 && blocks.length === 0) {
    problems.push("at least one trust anchor must be provided");
  } else if (problems.length === 0) {
    const indices = new Map<string, number[]>();
    for (const [index, { bytes }] of blocks.entries()) {
      const key = bytes.join();
      const same = indices.get(key);
      if (same === undefined) indices.set(key, [index]);
      else same.push(index);
    }
    for (const list of indices.values()) {
      if (list.length > 1) problems.push(`duplicate trust anchor (indices [${list.join(" ")}])`);
    }
  }
  for (const problem of problems) at.invalid("<value omitted>", problem);
}

function blockProblem({ type, headers, bytes }: PemBlock): string | undefined {
  if (type !== "CERTIFICATE") return `has bad block type: ${type}`;
  if (headers.size > 0) return "has PEM block headers";
  if (certificateProblem(bytes) !== undefined) return "does not parse as X.509";
  const authority = authorityOf(bytes);
  if (authority?.isAuthority !== true) return "does not have the CA bit set";
  return authority.isReadable ? undefined : "has invalid basic constraints";
}
