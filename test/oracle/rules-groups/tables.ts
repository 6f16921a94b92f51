// Every table of cases.

import type { KindCases } from "./cases.ts";
import { definitionCases } from "./definition-cases.ts";

export const tables: readonly KindCases[] = [definitionCases];
