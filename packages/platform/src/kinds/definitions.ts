// Both kinds as CustomResourceDefinitions: for a cluster that shall have them, and for a server that serves them itself.

import type { JsonObject } from "@keelson/base";
import { definitionOf } from "@keelson/kube";

import { application } from "./application.ts";
import { previewEnvironment } from "./preview-environment.ts";

export function platformDefinitions(): JsonObject[] {
  return [application, previewEnvironment].map(definitionOf);
}
