import type { DynamicObject } from "@keelson/client";

import { hasDatabase, type App } from "../app.ts";
import { childOf, selectorOf } from "../children/child.ts";
import { restPort } from "./rest-container.ts";

/** Where the Service listens. */
export const servicePort = { app: 80, rest: restPort } as const;

export function serviceOf(app: App): DynamicObject {
  const ports = [
    // By the names that the containers give their ports, not by number: each pod is reached where it listens, the old ones
    // too while those with another port have not taken their place.
    { name: "http", port: servicePort.app, protocol: "TCP", targetPort: "http" },
    ...(hasDatabase(app)
      ? [{ name: "rest", port: servicePort.rest, protocol: "TCP", targetPort: "rest" }]
      : []),
  ];
  return childOf(app, {
    apiVersion: "v1",
    kind: "Service",
    name: app.names.name,
    content: { spec: { selector: selectorOf(app), ports } },
  });
}
