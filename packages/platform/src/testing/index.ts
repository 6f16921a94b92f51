// What tests of the platform need: an app, a database for apps with an administrator, and a ledger to look into.

export { createAppDatabase, type AdminRights, type AppDatabase } from "./app-database.ts";
export { appWith, ownerless } from "./app-with.ts";
export { leftovers, nothing, serverTraces, stateOf } from "./catalog-state.ts";
export { MemoryLedger } from "./memory-ledger.ts";
