// Every table of cases of core, apps and batch.

import type { KindCases } from "../rules-groups/cases.ts";
import { batchCases } from "./batch-cases.ts";
import { podCases } from "./pod-cases.ts";
import { smallKindCases } from "./small-kind-cases.ts";
import { volumeCases } from "./volume-cases.ts";
import { workloadCases } from "./workload-cases.ts";

export const coreTables: readonly KindCases[] = [
  podCases,
  ...workloadCases,
  ...batchCases,
  ...smallKindCases,
  ...volumeCases,
];
