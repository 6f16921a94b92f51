// PostgREST beside the app: it shares the app's life and scale, is on localhost, needs no Service of its own and is small.

import type { JsonObject } from "@keelson/base";

import { originsOf, type App } from "../app.ts";
import { lockedDown, probes } from "./container-parts.ts";

export const restPort = 3001;
const image = "postgrest/postgrest:v12.2.3";

export function restContainer(app: App): JsonObject {
  const { names } = app;
  const value = (name: string, value: string): JsonObject => ({ name, value });
  return {
    name: "postgrest",
    image,
    ports: [{ name: "rest", containerPort: restPort, protocol: "TCP" }],
    env: [
      {
        name: "PGRST_DB_URI",
        valueFrom: { secretKeyRef: { name: names.children.database, key: "DATABASE_URL" } },
      },
      value("PGRST_DB_SCHEMAS", names.schema),
      value("PGRST_DB_ANON_ROLE", names.anonRole),
      value("PGRST_SERVER_PORT", String(restPort)),
      value("PGRST_DB_CHANNEL_ENABLED", "true"),
      value("PGRST_SERVER_CORS_ALLOWED_ORIGINS", originsOf(app).join(",")),
    ],
    resources: {
      requests: { cpu: "50m", memory: "64Mi" },
      limits: { cpu: "200m", memory: "128Mi" },
    },
    securityContext: lockedDown,
    ...probes({ path: "/", port: restPort }),
  };
}
