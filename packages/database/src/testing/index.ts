// What tests of this package and of others need: a real PostgreSQL, thrown away afterwards.

export {
  sharedThrowawayPostgres,
  startThrowawayPostgres,
  systemPostgresFound,
  type PostgresFlavour,
  type ThrowawayDatabase,
  type ThrowawayOptions,
  type ThrowawayPostgres,
} from "./throwaway-postgres.ts";
