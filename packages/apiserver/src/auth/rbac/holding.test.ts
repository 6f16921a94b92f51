import assert from "node:assert/strict";
import { test } from "node:test";

import * as fc from "fast-check";

import { Holding } from "./holding.ts";
import { pathCovers, type PolicyRule } from "./policy-rule.ts";

const paths = (nonResourceURLs: readonly string[]): PolicyRule => ({
  verbs: ["get"],
  apiGroups: [],
  resources: [],
  resourceNames: [],
  nonResourceURLs,
});

test("paths are held if one of the rule's covers each", () => {
  const path = fc.string({ unit: fc.constantFrom("/", "a", "b", "*"), maxLength: 4 });
  fc.assert(
    fc.property(fc.array(path), fc.array(path, { maxLength: 2 }), (owned, wanted) => {
      const isHeld = wanted.every((one) => owned.some((own) => pathCovers(own, one)));
      assert.equal(new Holding(paths(owned)).covers(paths(wanted)), isHeld);
    }),
    { numRuns: 3_000 },
  );
});
