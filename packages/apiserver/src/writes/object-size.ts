// How large an object may become: defaults make more of a body, and each patch may add another one.

import { failures } from "@keelson/kube";
import type { Body } from "@keelson/store";

/** Characters of an object's JSON. Nearly three bodies as large as they may be. */
export const objectLengthMax = 8 * 1024 * 1024;

/** Throws a `RequestEntityTooLarge`, unless the object was larger before: whoever makes it smaller is not held up. */
export function refuseTooLarge(body: Body, before?: Body): void {
  const { length } = body.text;
  if (length <= objectLengthMax || length <= (before?.text.length ?? 0)) return;
  const message = `the object would have ${length} characters, limit is ${objectLengthMax}`;
  throw failures.requestTooLarge(message);
}
