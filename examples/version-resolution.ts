// A controller for every platform: which image a release is, for whoever needs it.

import {
  createController,
  failed,
  ready,
  type Controller,
  type ControllerOptions,
} from "@keelson/sdk";

/** What a real one would ask a registry of releases for. */
const images: Readonly<Record<string, string>> = {
  stable: "registry.example.com/release",
  fast: "registry.example.com/release-fast",
  candidate: "registry.example.com/release-candidate",
  eus: "registry.example.com/release-eus",
};

export function versionResolution(
  where: Pick<ControllerOptions, "transport" | "api" | "log">,
): Controller {
  return createController({
    ...where,
    name: "version-resolution",
    kinds: ["cluster"],
    reconcile({ resource }) {
      const { version = "4.20.0", channelGroup = "stable" } = (resource.spec["release"] ?? {}) as {
        readonly version?: string;
        readonly channelGroup?: string;
      };
      const image = images[channelGroup];
      if (image === undefined) {
        return failed({
          type: "Configuration",
          code: "UnknownChannel",
          message: `there is no channel ${channelGroup}`,
          userActionable: true,
          suggestions: [`use one of ${Object.keys(images).join(", ")}`],
        });
      }
      return ready({ release_image: `${image}:${version}` });
    },
  });
}
