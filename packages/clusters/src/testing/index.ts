// What tests of cluster lifecycle need: its tables in a database of their own.

export { createClustersDatabase, type ClustersDatabase } from "./clusters-database.ts";
