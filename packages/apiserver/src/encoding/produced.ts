// What the router of the real server asks of an Accept header before anything else.

import { failures, StatusError } from "@keelson/kube";

import { json, protobuf, yaml } from "./read-body.ts";

/** The formats of built-in kinds and of documents. */
export const produced: readonly string[] = [json, yaml, protobuf];

/** Whether the router lets it pass where these are produced. It knows no `application/*`. */
export function isProduced(accept: string, formats: readonly string[] = produced): boolean {
  return (
    accept === "" ||
    accept.split(",").some((clause) => {
      const type = clause.split(";", 1)[0]?.trim() ?? "";
      return type === "*/*" || formats.includes(type);
    })
  );
}

/** 406 in the words of the router. */
export function notProduced(formats: readonly string[] = produced): StatusError {
  const message = `406: Not Acceptable\n\nAvailable representations: ${formats.join(", ")}`;
  return new StatusError({ ...notAcceptable(message).status, details: {} });
}

export const onlyThese = "only the following media types are accepted";

/** 406 with these words. */
export function notAcceptable(message: string): StatusError {
  const { status } = failures.notAcceptable([]);
  return new StatusError({ ...status, message });
}
