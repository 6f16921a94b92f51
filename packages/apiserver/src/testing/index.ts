// The real server for tests: on SQLite in memory, or whatever store is given, without TLS, for callers who may do all.

export { startTestServer, type TestServer, type TestServerOptions } from "./test-server.ts";
export { eachBackend, type ServerBed } from "./each-backend.ts";
export { Api, messageOf, meta, OpenWatch, type Reply, type WatchedEvent } from "./api.ts";
