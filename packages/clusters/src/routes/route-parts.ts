import type { FastifyRequest } from "fastify";
import type { Caller } from "../access/access.ts";
import type { Registry } from "../controllers/registry.ts";
import type { Deletions } from "../deletion/deletions.ts";
import type { Reports } from "../reports/reports.ts";
import type { ResourceReader } from "../resources/read-resources.ts";
import type { ResourceWriter } from "../resources/write-resources.ts";

/** What the routes call. */
export interface RouteParts {
  readonly reader: ResourceReader;
  readonly writer: ResourceWriter;
  readonly deletions: Deletions;
  readonly reports: Reports;
  readonly registry: Registry;
  readonly callerOf: (request: FastifyRequest) => Caller;
}
