// Every table of cases.

import { accessCases } from "./access-cases.ts";
import type { KindCases } from "./cases.ts";
import { certificateCases } from "./certificate-cases.ts";
import { definitionCases } from "./definition-cases.ts";
import { deviceCases } from "./device-cases.ts";
import { networkCases } from "./network-cases.ts";
import { scaleStorageCases } from "./scale-storage-cases.ts";
import { serverCases } from "./server-cases.ts";

export const tables: readonly KindCases[] = [
  definitionCases,
  ...accessCases,
  ...networkCases,
  ...scaleStorageCases,
  ...serverCases,
  ...certificateCases,
  ...deviceCases,
];
