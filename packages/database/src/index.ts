// PostgreSQL for services: a server to start, and what every service builds on it.

export { PostgresServerError, type PostgresServerErrorCode } from "./server/errors.ts";
