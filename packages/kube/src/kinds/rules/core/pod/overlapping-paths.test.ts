import assert from "node:assert/strict";
import { suite, test } from "node:test";

import * as fc from "fast-check";

import { overlapWarnings } from "./overlapping-paths.ts";

const paths = fc.array(fc.constantFrom("a", "b", "a-b", "", "a/", "é"), { maxLength: 4 });
const files = fc.array(
  fc.record({ path: paths.map((steps) => steps.join("/")), from: fc.constantFrom("x", "y") }),
  { maxLength: 12 },
);

suite("overlapping paths", () => {
  test("they are those of comparing each file with each before it", () => {
    fc.assert(
      fc.property(files, (all) => {
        const sources = all.map(({ path, from }) => ({
          secret: { name: from, items: [{ key: "k", path }] },
        }));
        const said = new Set(overlapWarnings([{ name: "v", projected: { sources } }]));
        assert.deepEqual([...said], [...new Set(compared(all))]);
      }),
      { numRuns: 2_000 },
    );
  });
});

function compared(all: readonly { readonly path: string; readonly from: string }[]): string[] {
  const trimmed = all.map(({ path, from }) => ({ path: path.replace(/\/+$/, ""), from }));
  const show = ({ path, from }: (typeof trimmed)[number]): string => `"${path}" (Secret "${from}")`;
  return trimmed.flatMap((file, index) =>
    trimmed
      .slice(0, index)
      .filter(
        ({ path }) =>
          file.path !== "" &&
          path !== "" &&
          (`${path}/`.startsWith(`${file.path}/`) || `${file.path}/`.startsWith(`${path}/`)),
      )
      .map(
        (other) => `volume "v" (Projected): overlapping paths: ${show(file)} with ${show(other)}`,
      ),
  );
}
