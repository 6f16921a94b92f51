// What our rules say of a creation that the real server refuses.

import { cloneJson, type JsonObject } from "@keelson/base";
import {
  applyDefaults,
  decodeFailureMessage,
  failures,
  TypedDecodeError,
  typedKind,
  validateObject,
  type BuiltinKinds,
  type Status,
  type StructuralSchema,
} from "@keelson/kube";

import { judgeCreate } from "../rules-groups/judge.ts";
import type { Subject } from "./subjects.ts";

export interface RefusedCreation {
  readonly subject: Subject;
  readonly kinds: BuiltinKinds;
  readonly schema: StructuralSchema | undefined;
  readonly body: JsonObject;
}

/** Our refusal of it; undefined if we take it. */
export function ourRefusal(creation: RefusedCreation): Status | undefined {
  return creation.subject.isBuiltIn ? builtInRefusal(creation) : customRefusal(creation);
}

function builtInRefusal({ subject, kinds, body }: RefusedCreation): Status | undefined {
  const kind = kinds.find(subject);
  if (kind === undefined) throw new Error(`no kind ${subject.kind}`);
  const typed = typedKind(kinds, kind);
  const namespace = kind.isNamespaced ? { namespace: "default" } : {};
  const metadata = { ...(body["metadata"] as JsonObject), ...namespace };
  try {
    const { object } = typed.decode({ ...body, metadata });
    typed.applyDefaults(object, { now: "2026-01-01T00:00:00Z" });
    const { verdict } = judgeCreate(kind, object);
    if (verdict === "taken") return undefined;
    const { code, message, causes } = verdict as unknown as Refused;
    return { ...failures.badRequest(message).status, code, reason: "Invalid", details: { causes } };
  } catch (error) {
    if (!(error instanceof TypedDecodeError)) throw error;
    return failures.badRequest(decodeFailureMessage(error, kind)).status;
  }
}

interface Refused {
  readonly code: number;
  readonly message: string;
  readonly causes: NonNullable<NonNullable<Status["details"]>["causes"]>;
}

function customRefusal({ subject, schema = {}, body }: RefusedCreation): Status | undefined {
  const filled = cloneJson({ ...body, metadata: {} });
  applyDefaults(filled, schema);
  const { errors } = validateObject(schema, filled);
  const { name } = body["metadata"] as { readonly name: string };
  return errors.length === 0 ? undefined : failures.invalid(subject, name, errors).status;
}
