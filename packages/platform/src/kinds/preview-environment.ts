// PreviewEnvironment: an Application once more for a pull request, apart from it and for a while.

import type { DeclaredKind } from "@keelson/kube";
import { Type, type Static } from "typebox";

import { platformGroup } from "./platform-group.ts";
import { immutable, integer, object, text } from "./schema-parts.ts";
import { commonStatus } from "./status.ts";

const name = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";

export const previewSpec = object({
  applicationRef: text(
    {
      description:
        "The Application it is a preview of, as [namespace/]name; in its own namespace unless told. It cannot be changed.",
      minLength: 1,
      maxLength: 127,
      pattern: `^(${name}/)?${name}$`,
    },
    immutable,
  ),
  pullRequest: integer(
    { description: "Its number. It cannot be changed.", minimum: 1, maximum: 9_999_999 },
    immutable,
  ),
  branch: text({ minLength: 1, maxLength: 255 }),
  imageRef: Type.Optional(
    text({
      description: "The pull request's image; the parent's until there is one.",
      minLength: 1,
      maxLength: 512,
      pattern: "^\\S+$",
    }),
  ),
  ttl: text(
    {
      description:
        "How long it lives, as 5m, 2h or 3d, at most 30 days: from its creation, or from the time in the annotation platform.internal/refresh.",
      maxLength: 6,
      pattern: "^[1-9][0-9]*(m|h|d)$",
      default: "72h",
    },
    {
      rule: "int(self.substring(0, size(self) - 1)) <= (self.endsWith('d') ? 30 : self.endsWith('h') ? 720 : 43200)",
      message: "must be at most 30 days",
    },
  ),
});
/** As it is read: what has a default is there. */
export type PreviewSpec = Static<typeof previewSpec>;

export const previewStatus = object({
  ...commonStatus,
  expiresAt: Type.Optional(Type.String({ format: "date-time" })),
  namespace: Type.Optional(Type.String()),
});
export type PreviewStatus = Static<typeof previewStatus>;

/** As objects name it. */
export const previewKind = {
  apiVersion: `${platformGroup}/v1alpha1`,
  kind: "PreviewEnvironment",
} as const;

export const previewEnvironment: DeclaredKind = {
  group: platformGroup,
  version: "v1alpha1",
  kind: previewKind.kind,
  plural: "previewenvironments",
  isNamespaced: true,
  description: "An Application once more for a pull request, apart from it and for a while.",
  spec: previewSpec,
  status: previewStatus,
  columns: [
    { name: "App", type: "string", jsonPath: ".spec.applicationRef" },
    { name: "PR", type: "integer", jsonPath: ".spec.pullRequest" },
    { name: "Phase", type: "string", jsonPath: ".status.phase" },
    { name: "URL", type: "string", jsonPath: ".status.url" },
    { name: "Expires", type: "string", jsonPath: ".status.expiresAt" },
  ],
  selectableFields: [],
};
