// Every differential case, in the order of the subjects.

import type { Case } from "./case.ts";
import { apiServiceCases } from "./cases/api-services.ts";
import { applyCases } from "./cases/apply.ts";
import { bodyCases } from "./cases/bodies.ts";
import { coreKindCases } from "./cases/core-kinds.ts";
import { certificateCases } from "./cases/certificates.ts";
import { customValueCases } from "./cases/custom-values.ts";
import { definitionChangeCases } from "./cases/definition-changes.ts";
import { definitionCases } from "./cases/definitions.ts";
import { deleteCases } from "./cases/deletes.ts";
import { discoveryCases } from "./cases/discovery.ts";
import { fieldCases } from "./cases/fields.ts";
import { kindCases } from "./cases/kinds.ts";
import { listCases } from "./cases/lists.ts";
import { managerCases } from "./cases/managers.ts";
import { namespaceCases } from "./cases/namespaces.ts";
import { openApiCases } from "./cases/openapi.ts";
import { patchCases } from "./cases/patches.ts";
import { pathCases } from "./cases/paths.ts";
import { reviewCases } from "./cases/reviews.ts";
import { securityCases } from "./cases/security.ts";
import { shapeCases } from "./cases/shapes.ts";
import { subresourceCases } from "./cases/subresources.ts";
import { valueCases } from "./cases/values.ts";
import { watchCases } from "./cases/watches.ts";
import { writeCases } from "./cases/writes.ts";
import { generatedCases } from "./generated.ts";
import { trialSettings } from "../oracle/differential.ts";

/** Generated ones beside the written ones. */
const generatedDefault = 100;

/** Of the generated cases; their names hold the seed. */
const settings = trialSettings(generatedDefault);
export const { seed } = settings;

/** The written ones, and those from the seed. */
export async function allCases(): Promise<readonly Case[]> {
  return [
    // First what waits for controllers, so that at the end nobody waits for it alone.
    ...namespaceCases,
    ...(await kindCases()),
    ...writeCases,
    ...coreKindCases,
    ...managerCases,
    ...patchCases,
    ...applyCases,
    ...deleteCases,
    ...listCases,
    ...watchCases,
    ...subresourceCases,
    ...certificateCases,
    ...shapeCases,
    ...discoveryCases,
    ...apiServiceCases,
    ...openApiCases,
    ...pathCases,
    ...bodyCases,
    ...fieldCases,
    ...valueCases,
    ...securityCases,
    ...reviewCases,
    ...definitionCases,
    ...definitionChangeCases,
    ...customValueCases,
    ...generatedCases(seed, settings.count),
  ];
}
