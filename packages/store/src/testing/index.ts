// The contract of the store as a suite that every backend passes, and what it needs.

export {
  type Bed,
  dump,
  type Fixture,
  key,
  kind,
  object,
  type OpenOptions,
  summary,
  take,
} from "./bed.ts";
export { describeStore } from "./contract/index.ts";
export { postgresFixture, sqliteFile, sqliteMemory } from "./fixtures.ts";
export { PostgresProxy } from "./postgres-proxy.ts";
