import type { App } from "../app.ts";
import { namesOf } from "../names/names.ts";

/** An app as steps see it, without an object that asks for it. */
export function appWith(
  spec: Partial<App["spec"]>,
  uid = "0f8c2a1e-6f3b-4e0e-9b59-6d6a3f7f4b11",
): App {
  return {
    kind: "Application",
    owner: { uid, namespace: "default", name: "my-app" },
    namespace: "default",
    names: namesOf(
      { app: "my-app", environment: "production" },
      { baseDomain: "example.com", previewHosts: "nested" },
    ),
    spec: {
      repository: "r",
      branch: "main",
      framework: "nextjs",
      environment: "production",
      scaling: { min: 2, max: 20, targetCPU: 70 },
      deletionPolicy: "Delete",
      ...spec,
    },
  };
}
