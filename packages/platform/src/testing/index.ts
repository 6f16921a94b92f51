// What tests of the platform need: a database for apps with an administrator, and a ledger to look into.

export { createAppDatabase, type AdminRights, type AppDatabase } from "./app-database.ts";
export { leftovers, nothing, stateOf } from "./catalog-state.ts";
export { MemoryLedger } from "./memory-ledger.ts";
