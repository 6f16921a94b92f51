// What tests of this package and of others need: a real PostgreSQL, thrown away afterwards.

export { eachPostgres } from "./each-postgres.ts";
export { patience } from "./patience.ts";
export { createServiceDatabase, type Service, type ServiceDatabase } from "./service-database.ts";
export { createServicesDatabase } from "./services-database.ts";
export {
  sharedThrowawayPostgres,
  startThrowawayPostgres,
  systemPostgresFound,
  type PostgresFlavour,
  type ThrowawayDatabase,
  type ThrowawayOptions,
  type ThrowawayPostgres,
} from "./throwaway-postgres.ts";
