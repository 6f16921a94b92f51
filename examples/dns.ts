// A controller for one platform, which needs to know what another one found out.

import { createController, ready, type Controller, type ControllerOptions } from "@keelson/sdk";

export function dns(where: Pick<ControllerOptions, "transport" | "api" | "log">): Controller {
  /** What a real one would have at its provider. */
  const zones = new Map<string, string>();
  return createController({
    ...where,
    name: "dns",
    kinds: ["cluster"],
    platforms: ["gcp"],
    dependsOn: [
      { controller: "version-resolution", condition: "Available", metadataKey: "release_image" },
    ],
    preconditions: [{ field: "spec.dns.baseDomain", operator: "exists" }],
    reconcile({ resource, reports, log }) {
      const { baseDomain } = resource.spec["dns"] as { readonly baseDomain: string };
      const zone = `${resource.name}.${baseDomain}`;
      zones.set(resource.id, zone);
      const image = reports["version-resolution"]?.metadata["release_image"] ?? "";
      log.info({ zone, image }, "zone is there");
      return ready({ zone });
    },
    finalize({ resource, log }) {
      log.info({ zone: zones.get(resource.id) }, "zone is gone");
      zones.delete(resource.id);
    },
  });
}
