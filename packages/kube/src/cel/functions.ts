// All functions that rules may call.

import { operators } from "./arithmetic.ts";
import { conversions } from "./conversions.ts";
import { listFunctions } from "./list-functions.ts";
import { optionalFunctions } from "./optional-functions.ts";
import type { Overload } from "./overload.ts";
import { quantityFunctions } from "./quantity-functions.ts";
import { textFunctions } from "./text-functions.ts";
import { timeFunctions } from "./time-functions.ts";

/** The ways to call a function, or a method, of a name; nothing if there is none of that name at all. */
export function overloadsOf(name: string, isMethod: boolean): readonly Overload[] | undefined {
  return byName.get(`${isMethod ? "." : ""}${name}`);
}

const byName = Map.groupBy(
  [
    ...operators,
    ...conversions,
    ...textFunctions,
    ...listFunctions,
    ...timeFunctions,
    ...quantityFunctions,
    ...optionalFunctions,
  ],
  ({ name, isMethod }) => `${isMethod ? "." : ""}${name}`,
);
