// The query of a create, an update or a patch.

import { failures, managerFromUserAgent, refuseParameters, type WriteKind } from "@keelson/kube";

import { header, type ResourceExchange } from "../http/exchange.ts";
import { isTrue } from "../http/query-values.ts";
import type { WriteRequest } from "../writes/write-request.ts";

export type FieldValidation = "Ignore" | "Warn" | "Strict";

export interface WriteOptions {
  /** The `fieldManager` that was named; empty if none was. */
  readonly fieldManager: string;
  /** Who manages what changes: the one that was named, or what the client calls itself. */
  readonly manager: string;
  readonly isDryRun: boolean;
  readonly fieldValidation: FieldValidation;
  readonly force: boolean;
}

/** Reads and checks the options. Throws `Invalid`. */
export function writeOptions(
  exchange: ResourceExchange,
  kind: WriteKind,
  { isApply = false }: { readonly isApply?: boolean } = {},
): WriteOptions {
  const { query } = exchange;
  const fieldManager = query.get("fieldManager") ?? "";
  const dryRun = query.getAll("dryRun");
  const fieldValidation = query.get("fieldValidation") ?? "";
  const force = query.get("force");
  const refusal = refuseParameters(
    kind,
    {
      fieldManager,
      dryRun,
      fieldValidation,
      ...(force === null ? {} : { force: isTrue(force) }),
    },
    { isApply },
  );
  if (refusal !== undefined) throw refusal;
  return {
    fieldManager,
    manager:
      fieldManager === "" ? managerFromUserAgent(header(exchange, "user-agent")) : fieldManager,
    isDryRun: dryRun.length > 0,
    fieldValidation:
      fieldValidation === "Ignore" || fieldValidation === "Strict" ? fieldValidation : "Warn",
    force: isTrue(force),
  };
}

/** The write that an exchange asks for. */
export function writeRequest(
  { resource, info, user, warn }: ResourceExchange,
  { manager, isDryRun }: Pick<WriteOptions, "manager" | "isDryRun">,
): WriteRequest {
  return {
    resource,
    namespace: info.namespace,
    name: info.name,
    subresource: info.subresource,
    user,
    manager,
    isDryRun,
    warn,
  };
}

/** What is made of fields that are unknown or stand there twice (KB 51). `refuse` words the refusal. */
export function judgeFields(
  problems: readonly string[],
  {
    fieldValidation,
    warn,
  }: { readonly fieldValidation: FieldValidation } & Pick<ResourceExchange, "warn">,
  refuse: (problems: readonly string[]) => Error = strictly,
): void {
  if (problems.length === 0 || fieldValidation === "Ignore") return;
  if (fieldValidation === "Strict") throw refuse(problems);
  for (const problem of problems) warn(problem);
}

/** `strict decoding error: unknown field "spec.x", duplicate field "spec.y"`. */
export function strictText(problems: readonly string[]): string {
  return `strict decoding error: ${problems.join(", ")}`;
}

function strictly(problems: readonly string[]): Error {
  return failures.badRequest(strictText(problems));
}
