// Every default that the data cannot say.

import { apiextensionsDefaults } from "./apiextensions.ts";
import { appsDefaults } from "./apps.ts";
import { batchDefaults } from "./batch.ts";
import { coreDefaults } from "./core.ts";
import type { DefaultRule } from "./default-rule.ts";
import { networkingDefaults } from "./networking.ts";
import { podDefaults } from "./pods.ts";
import { rbacDefaults } from "./rbac.ts";
import { resourceDefaults } from "./resource.ts";
import { serviceDefaults } from "./services.ts";

/** By type or by place; see `DefaultRules`. */
export const defaultRules: ReadonlyMap<string, DefaultRule> = new Map(
  Object.entries({
    ...apiextensionsDefaults,
    ...appsDefaults,
    ...batchDefaults,
    ...coreDefaults,
    ...networkingDefaults,
    ...podDefaults,
    ...rbacDefaults,
    ...resourceDefaults,
    ...serviceDefaults,
  }),
);
