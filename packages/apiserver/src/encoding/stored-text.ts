// The text of a stored object as clients see it. Objects are written once, in an order that lets their text
// be sent without being read: `apiVersion`, `kind`, `metadata`, and the rest.

import { isJsonObject, writeJson, type JsonObject, type MutableJsonObject } from "@keelson/base";
import { Body, type Revision } from "@keelson/store";

const mark = '"metadata":{';

/** The object in the order in which it is stored. Its revision is the row's, and is not in its text. */
export function inStoredOrder(object: JsonObject): JsonObject {
  const { apiVersion, kind, metadata, ...rest } = object;
  const { resourceVersion: _, ...kept } = isJsonObject(metadata) ? metadata : {};
  return { apiVersion: apiVersion ?? "", kind: kind ?? "", metadata: kept, ...rest };
}

/** A text in two, the first of them with the revision in it: whoever copies both to the same place need not join them. */
export type Parts = readonly [start: string, rest: string];

/** The text with its resourceVersion put in. */
export function withRevision(text: string, revision: Revision): string {
  const [start, rest] = partsWithRevision(text, revision);
  return start + rest;
}

/** The same, in parts. */
export function partsWithRevision(text: string, revision: Revision): Parts {
  const at = insideMetadata(text);
  if (at === undefined)
    return [writeJson(objectWithRevision(Body.parse(text).value, revision)), ""];
  return [`${text.slice(0, at)}${memberFor(text, at, revision)}`, text.slice(at)];
}

/** The same as an item of a built-in kind's list, where items do not repeat their kind. */
export function partsOfListItem(text: string, revision: Revision): Parts {
  const at = insideMetadata(text);
  if (at === undefined) {
    const {
      apiVersion: _,
      kind: _kind,
      ...rest
    } = objectWithRevision(Body.parse(text).value, revision);
    return [writeJson(rest), ""];
  }
  return [`{${mark}${memberFor(text, at, revision)}`, text.slice(at)];
}

/** A stored object with its resourceVersion; what it holds below its metadata is shared, and not to be changed. */
export function objectWithRevision(stored: JsonObject, revision: Revision): MutableJsonObject {
  const { metadata } = stored;
  return {
    ...stored,
    metadata: { ...(isJsonObject(metadata) ? metadata : {}), resourceVersion: String(revision) },
  };
}

/** Where the first member of the metadata begins; undefined if something stands before it. */
function insideMetadata(text: string): number | undefined {
  // A member whose name is a number comes first in every JavaScript object.
  if (!text.startsWith('{"apiVersion"')) return undefined;
  // Before it there are only `apiVersion` and `kind`, whose values hold no quotes.
  return text.indexOf(mark) + mark.length;
}

function memberFor(text: string, at: number, revision: Revision): string {
  return `"resourceVersion":"${revision}"${text[at] === "}" ? "" : ","}`;
}
