// What a built-in kind asks of its objects beyond their structure.

import type { JsonObject, MutableJsonObject } from "@keelson/base";

import type { NameRule } from "../object/names.ts";
import type { FieldError } from "../status/field-error.ts";
import type { SignedBytes } from "./rules/certificates/request-signature.ts";

/** What a rule may know besides the object. */
export interface RuleContext {
  /** The time of the request, as `Time` is written. */
  readonly now: string;
  /** A new uid, for the kinds that stamp one on what they hold. */
  readonly uuid: () => string;
  /** Who asks; absent where nobody does. */
  readonly user?: {
    readonly name: string;
    readonly uid: string;
    readonly groups: readonly string[];
    readonly extra: Readonly<Record<string, readonly string[]>>;
  };
  /** Told while an object is prepared, whatever is said of it afterwards. */
  readonly warn?: (text: string) => void;
  /** Whether a signature is that of its key; where there is no cryptography, none is looked at. */
  readonly isSigned?: (signed: SignedBytes) => boolean;
}

/**
 * The rules of one kind, as plain functions over objects that are decoded, defaulted and of the
 * kind's own version. `prepare…` may change `object` in place, which is the caller's own copy; `old` is
 * never changed. Generation, system metadata and the split between object and status are not their
 * business: the server does that for every kind alike, by the kind's switches.
 */
export interface KindRules {
  /** How a name is judged; a DNS subdomain if nothing is said. */
  readonly names?: NameRule;
  /** The same where a name follows from the rest of the object. */
  readonly namesFor?: (object: JsonObject) => NameRule;
  /** Finalizers without a domain are taken, whatever they are called. */
  readonly takesBareFinalizers?: boolean;
  /** What the server fills in or takes out on creation. */
  readonly prepareForCreate?: (object: MutableJsonObject, context: RuleContext) => void;
  readonly prepareForUpdate?: (
    object: MutableJsonObject,
    old: JsonObject,
    context: RuleContext,
  ) => void;
  readonly prepareForStatusUpdate?: (
    object: MutableJsonObject,
    old: JsonObject,
    context: RuleContext,
  ) => void;
  /** What is wrong with a new object, metadata aside; also asked on updates unless `validateUpdate` does it all. */
  readonly validate?: (object: JsonObject, context: RuleContext) => readonly FieldError[];
  /** What is wrong with an update: everything, in the order in which the real server says it. */
  readonly validateUpdate?: (
    object: JsonObject,
    old: JsonObject,
    context: RuleContext,
  ) => readonly FieldError[];
  readonly validateStatusUpdate?: (
    object: JsonObject,
    old: JsonObject,
    context: RuleContext,
  ) => readonly FieldError[];
  /** What to tell the client in `Warning` headers. */
  readonly warnings?: (object: JsonObject, old: JsonObject | undefined) => readonly string[];
}
