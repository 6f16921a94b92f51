import assert from "node:assert/strict";
import { test } from "node:test";

import { toldErrorsMax, untoldText } from "../status/field-error.ts";
import { ApplyConflicts, type ManagerConflict } from "./conflicts.ts";
import { FieldSet } from "./field-set.ts";
import { OwnedFields } from "./owned-fields.ts";

function conflict(manager: string, count: number): ManagerConflict {
  const fields = FieldSet.of(
    ...Array.from({ length: count }, (_, index) => [`${manager}${index}`]),
  );
  const owned = OwnedFields.of(fields);
  const set = { operation: "Apply", apiVersion: "v1", subresource: "", time: undefined } as const;
  return { key: manager, fields, manager: { ...set, manager, owned } };
}

test("whoever comes after the last field that is told is not named", () => {
  const conflicts = [conflict("two", 2), conflict("one", toldErrorsMax)];
  const { message = "", details } = new ApplyConflicts(conflicts).toStatus().status;
  assert.equal(details?.causes?.length, toldErrorsMax + 1);
  const [last, more] = message.split("\n").slice(-2);
  assert.match(last ?? "", /^- \.one/);
  assert.equal(more, untoldText);
});
