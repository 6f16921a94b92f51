// Which format an answer takes: the Accept header (KB 57).

import { notAcceptable } from "../status/failures.ts";

/** One format of an `Accept` header. */
export interface AcceptClause {
  readonly type: string;
  readonly subtype: string;
  readonly quality: number;
  readonly parameters: ReadonlyMap<string, string>;
}

/** Another shape that the client wishes: `Table` of `meta.k8s.io/v1`. */
export interface Conversion {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

/** A format that the endpoint can write. */
export interface OfferedFormat {
  /** `application/json`. */
  readonly mediaType: string;
  /** Whether it can write a watch. */
  readonly canStream: boolean;
}

/** What the endpoint offers, the preferred format first. */
export interface Offer {
  readonly formats: readonly OfferedFormat[];
  /** What a refusal names, where that is more. */
  readonly named?: readonly string[];
  /** Whether it can answer in another shape, in that format. */
  readonly canConvert?: (conversion: Conversion, mediaType: string) => boolean;
}

/** What the answer will be. */
export interface Negotiated {
  readonly mediaType: string;
  readonly conversion: Conversion | undefined;
  readonly isPretty: boolean;
  /** A wish of discovery clients, `nopeer`; empty if none. */
  readonly profile: string;
}

/** How many clauses of a header are read. */
export const clausesMax = 100;

/**
 * The format of the answer. An empty header takes the first; a clause whose wish the endpoint cannot fulfil is
 * passed over. Throws `NotAcceptable` if nothing is left.
 */
export function negotiateAnswer(header: string, offer: Offer): Negotiated {
  const first = offer.formats[0];
  if (header === "" && first !== undefined) {
    return { mediaType: first.mediaType, conversion: undefined, isPretty: false, profile: "" };
  }
  for (const clause of parseAccept(header)) {
    for (const format of offer.formats) {
      const negotiated = accepts(clause, format.mediaType)
        ? fulfil(clause, format, offer)
        : undefined;
      if (negotiated !== undefined) return negotiated;
    }
  }
  throw notAcceptable(offer.named ?? offer.formats.map(({ mediaType }) => mediaType));
}

/** The clauses of a header, the most wanted first; what is malformed is left out. */
export function parseAccept(header: string): AcceptClause[] {
  const clauses: AcceptClause[] = [];
  for (const part of header.split(",").slice(0, clausesMax)) {
    const clause = parseClause(part.trim());
    if (clause !== undefined) clauses.push(clause);
  }
  return insertionSort(clauses);
}

function parseClause(part: string): AcceptClause | undefined {
  const [range = "", ...rest] = part.split(";");
  const [type = "", subtype, more] = range.split("/").map((word) => word.trim());
  if (more !== undefined || part === "") return undefined;
  if ((subtype === undefined || subtype === "") && type !== "*") return undefined;
  let quality = 1;
  const parameters = new Map<string, string>();
  for (const parameter of rest) {
    const [name = "", value = "", extra] = parameter.split("=");
    if (value === "" || extra !== undefined) continue;
    if (name.trim() === "q") quality = Number(value) || 0;
    else parameters.set(name.trim(), value.trim());
  }
  return {
    type,
    subtype: subtype === undefined || subtype === "" ? "*" : subtype,
    quality,
    parameters,
  };
}

/** Not by a sort of the platform: whether one goes before another depends on where they stand. */
function insertionSort(clauses: AcceptClause[]): AcceptClause[] {
  for (let i = 1; i < clauses.length; i++) {
    for (let j = i; j > 0; j--) {
      const current = clauses[j];
      const before = clauses[j - 1];
      if (current === undefined || before === undefined || !goesBefore(current, before)) break;
      clauses[j] = before;
      clauses[j - 1] = current;
    }
  }
  return clauses;
}

function goesBefore(a: AcceptClause, b: AcceptClause): boolean {
  if (a.quality > b.quality) return true;
  if (a.type !== "*" && b.type === "*") return true;
  return a.subtype !== "*" && b.subtype === "*";
}

function accepts({ type, subtype }: AcceptClause, mediaType: string): boolean {
  const [ownType, ownSubtype] = mediaType.split("/");
  if (type === "*" && subtype === "*") return true;
  return type === ownType && (subtype === "*" || subtype === ownSubtype);
}

/** Undefined if the endpoint cannot do what the clause asks for beside the format. */
function fulfil(
  { parameters }: AcceptClause,
  format: OfferedFormat,
  offer: Offer,
): Negotiated | undefined {
  const stream = parameters.get("stream") ?? "";
  if (stream !== "" && (!format.canStream || stream !== "watch")) return undefined;
  if ((parameters.get("sv") ?? "") !== "") return undefined;
  const conversion = conversionOf(parameters);
  if (conversion !== undefined) {
    if (offer.canConvert?.(conversion, format.mediaType) !== true) return undefined;
  }
  return {
    mediaType: format.mediaType,
    conversion,
    isPretty: parameters.get("pretty") === "1",
    profile: parameters.get("profile") ?? "",
  };
}

function conversionOf(parameters: ReadonlyMap<string, string>): Conversion | undefined {
  const kind = parameters.get("as");
  const group = parameters.get("g");
  const version = parameters.get("v");
  if (kind === undefined && group === undefined && version === undefined) return undefined;
  return { group: group ?? "", version: version ?? "", kind: kind ?? "" };
}
