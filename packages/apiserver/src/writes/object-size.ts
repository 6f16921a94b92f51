// How large an object may become: defaults make more of a body, and each patch may add another one.

import { failures } from "@keelson/kube";
import type { Body } from "@keelson/store";

import { isTerminating } from "../object-metadata.ts";

/** Characters of an object's JSON. Nearly three bodies as large as they may be. */
export const objectLengthMax = 8 * 1024 * 1024;

/** More for one that is being deleted: whoever takes a finalizer away is noted as an updater. */
const endingRoom = 1024 * 1024;

/** Throws a `RequestEntityTooLarge`, unless the object was no smaller before. */
export function refuseTooLarge(body: Body, before?: Body): void {
  const { length } = body.text;
  if (length <= objectLengthMax || length <= (before?.text.length ?? 0)) return;
  if (isTerminating(body.value) && length <= objectLengthMax + endingRoom) return;
  const message = `the object would have ${length} characters, limit is ${objectLengthMax}`;
  throw failures.requestTooLarge(message);
}
