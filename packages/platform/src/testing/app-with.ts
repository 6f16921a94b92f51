import type { App } from "../app.ts";
import { namesOf } from "../names/names.ts";

/** An app as steps see it, without an object that asks for it. */
export function appWith(
  spec: Partial<App["spec"]>,
  uid = "0f8c2a1e-6f3b-4e0e-9b59-6d6a3f7f4b11",
  name = "my-app",
): App {
  const { environment = "production", domain } = spec;
  return {
    kind: "Application",
    owner: { uid, namespace: "default", name },
    namespace: "default",
    names: namesOf(
      { app: name, environment, ...(domain === undefined ? {} : { domain }) },
      { baseDomain: "example.com", previewHosts: "nested" },
    ),
    spec: {
      repository: "r",
      branch: "main",
      framework: "nextjs",
      environment,
      scaling: { min: 2, max: 20, targetCPU: 70 },
      deletionPolicy: "Delete",
      ...spec,
    },
  };
}

/** Its owner is in no cluster, where what belongs to nobody would be cleared away. */
export function ownerless(app: App): App {
  return { ...app, kind: "PreviewEnvironment" };
}
