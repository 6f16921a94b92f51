// Where a list goes on: opaque to clients, and shaped as they have seen it (KB 15, 18).

import { isJsonObject, JsonSyntaxError, readJson } from "@keelson/base";
import { failures, goJsonSyntax } from "@keelson/kube";
import type { Cursor, Position } from "@keelson/store";

/** A token for a page that begins after a position. `revision` -1: at whatever state is then the newest. */
export function continueToken(
  { after, revision, remaining }: Cursor,
  { isNamespaced, namespace }: { readonly isNamespaced: boolean; readonly namespace: string },
): string {
  const isEverywhere = isNamespaced && namespace === "";
  const place = isEverywhere
    ? `${after.namespace}/${after.name}`
    : `${isNamespaced ? "/" : ""}${after.name}`;
  const token = {
    v: "meta.k8s.io/v1",
    rv: revision ?? -1,
    start: `${place}\0`,
    ...(remaining === undefined ? {} : { left: remaining }),
  };
  return Buffer.from(JSON.stringify(token)).toString("base64url");
}

/** Reads a token. Throws a `BadRequest`. */
export function cursorFrom(
  token: string,
  { isNamespaced, namespace }: { readonly isNamespaced: boolean; readonly namespace: string },
): Cursor {
  const bad = (why: string): Error =>
    failures.badRequest(`invalid continue token: continue key is not valid: ${why}`);
  if (!/^[\w-]+$/.test(token)) throw bad("illegal base64 data at input byte 0");
  const text = Buffer.from(token, "base64url").toString();
  let value;
  try {
    value = readJson(text);
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
    throw bad(goJsonSyntax(text));
  }
  if (!isJsonObject(value)) throw bad("not an object");
  const { v, rv, start, left } = value;
  if (v !== "meta.k8s.io/v1") {
    const version = typeof v === "string" ? v : "";
    throw bad(`server does not recognize this encoded version ${version}`);
  }
  if (typeof rv !== "number" || rv === 0 || !Number.isSafeInteger(rv)) {
    throw bad("incorrect encoded start resourceVersion (version meta.k8s.io/v1)");
  }
  if (typeof start !== "string" || start === "") {
    throw bad("encoded start key empty (version meta.k8s.io/v1)");
  }
  const after = positionFrom(start, { isNamespaced, namespace });
  if (after === undefined) throw bad(start);
  return {
    after,
    ...(rv > 0 ? { revision: rv } : {}),
    ...(typeof left === "number" && Number.isSafeInteger(left) && left >= 0
      ? { remaining: left }
      : {}),
  };
}

/** In one namespace a start is `/name`, in all of them `namespace/name`, and without any `name`. */
function positionFrom(
  start: string,
  { isNamespaced, namespace }: { readonly isNamespaced: boolean; readonly namespace: string },
): Position | undefined {
  const place = start.replace(/\0$/, "").replace(/^\//, "");
  const parts = place.split("/");
  if (parts.some((part) => part === "" || part === "." || part === "..")) return undefined;
  const [first = "", second] = parts;
  const isAlone = !isNamespaced || namespace !== "";
  if (isAlone) return parts.length === 1 ? { namespace, name: first } : undefined;
  return parts.length === 2 ? { namespace: first, name: second ?? "" } : undefined;
}
