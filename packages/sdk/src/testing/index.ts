// What tests of controllers need: a backend in memory that behaves as the real one does towards them.

export { FakeBackend, type FakeBackendOptions } from "./fake-backend.ts";
