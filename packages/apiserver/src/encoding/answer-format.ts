// In which format and shape an answer goes out (KB 56, 57).

import {
  negotiateAnswer,
  wantsPretty,
  type Conversion,
  type IncludeObject,
  type OfferedFormat,
} from "@keelson/kube";
import { failures, goJsonString, StatusError } from "@keelson/kube";

import type { Resource } from "../resources/resource.ts";
import { isProduced, notAcceptable, notProduced, onlyThese, produced } from "./produced.ts";
import { json, protobuf, yaml } from "./read-body.ts";

export interface AnswerFormat {
  readonly mediaType: string;
  readonly shape: "object" | "table" | "metadata";
  /** The kind that was asked for instead of the object's own; empty if none was. */
  readonly asked: string;
  /** The version of a Table or of PartialObjectMetadata. */
  readonly metaVersion: "v1" | "v1beta1";
  readonly includeObject: IncludeObject;
  readonly isPretty: boolean;
}

/** What an answer needs to know of its request. */
export interface Wishes {
  readonly accept: string;
  readonly userAgent: string;
  readonly query: URLSearchParams;
}

const builtinOffer: readonly OfferedFormat[] = [
  { mediaType: json, canStream: true },
  { mediaType: yaml, canStream: false },
  { mediaType: protobuf, canStream: true },
];
const customOffer = builtinOffer.slice(0, 2);
const watchOffer = builtinOffer.filter(({ canStream }) => canStream);
const customWatchOffer = watchOffer.slice(0, 1);

/** What almost every client but kubectl asks for. */
const plain: AnswerFormat = {
  mediaType: json,
  shape: "object",
  asked: "",
  metaVersion: "v1",
  includeObject: "Metadata",
  isPretty: false,
};

export interface FormatOptions {
  readonly isWatch?: boolean;
  readonly isList?: boolean;
  /** Whether the objects can be shown as a Table; true unless told. */
  readonly hasTable?: boolean;
}

/** The format of an answer about a resource. Throws `NotAcceptable`. */
export function answerFormat(
  { isCustom }: Pick<Resource, "isCustom">,
  { accept, userAgent, query }: Wishes,
  { isWatch = false, isList = false, hasTable = true }: FormatOptions = {},
): AnswerFormat {
  const isPretty = wantsPretty(query.get("pretty") ?? undefined, userAgent);
  if ((accept === "" || accept === json) && !isPretty) return plain;
  const formats = isWatch
    ? isCustom
      ? customWatchOffer
      : watchOffer
    : isCustom
      ? customOffer
      : builtinOffer;
  const hasStreams = isList || isWatch;
  if (!isCustom && !isProduced(accept)) {
    throw notProduced(hasStreams ? [...produced, ...streams] : produced);
  }
  const negotiated = negotiate(accept, { formats, isWatch, hasTable });
  const { mediaType, conversion } = negotiated;
  return {
    mediaType,
    shape: shapeOf(conversion),
    asked: conversion?.kind ?? "",
    metaVersion: conversion?.version === "v1beta1" ? "v1beta1" : "v1",
    includeObject: includeObjectFrom(query.get("includeObject")),
    isPretty: !isWatch && (isPretty || negotiated.isPretty),
  };
}

const streams = watchOffer.map(({ mediaType }) => `${mediaType};stream=watch`);

function negotiate(
  accept: string,
  {
    formats,
    isWatch,
    hasTable,
  }: {
    readonly formats: readonly OfferedFormat[];
    readonly isWatch: boolean;
    readonly hasTable: boolean;
  },
): ReturnType<typeof negotiateAnswer> {
  const canConvert = (conversion: Conversion, mediaType: string): boolean =>
    (hasTable || conversion.kind !== "Table") && isConvertible(conversion, mediaType);
  try {
    return negotiateAnswer(accept, { formats, canConvert });
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
    throw notAcceptable(`${onlyThese}: ${(isWatch ? streams : produced).join(", ")}`);
  }
}

function isConvertible({ group, version, kind }: Conversion, mediaType: string): boolean {
  if (group !== "meta.k8s.io" || (version !== "v1" && version !== "v1beta1")) return false;
  if (kind === "Table") return mediaType !== protobuf;
  return kind === "PartialObjectMetadata" || kind === "PartialObjectMetadataList";
}

function shapeOf(conversion: Conversion | undefined): AnswerFormat["shape"] {
  if (conversion === undefined) return "object";
  return conversion.kind === "Table" ? "table" : "metadata";
}

function includeObjectFrom(text: string | null): IncludeObject {
  if (text === null || text === "") return "Metadata";
  if (text === "None" || text === "Metadata" || text === "Object") return text;
  throw failures.badRequest(
    `Unable to convert to Table as requested: includeObject: Invalid value: ${goJsonString(text)}: must be 'Metadata', 'Object', 'None', or empty`,
  );
}
