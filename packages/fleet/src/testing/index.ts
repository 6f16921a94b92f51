// What tests of fleet need: its tables in a database of their own.

export { createFleetDatabase, type FleetDatabase } from "./fleet-database.ts";
