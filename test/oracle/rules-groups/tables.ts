// Every table of cases.

import { accessCases } from "./access-cases.ts";
import type { KindCases } from "./cases.ts";
import { definitionCases } from "./definition-cases.ts";
import { networkCases } from "./network-cases.ts";

export const tables: readonly KindCases[] = [definitionCases, ...accessCases, ...networkCases];
