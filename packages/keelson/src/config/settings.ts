// Every setting there is, by the part that it belongs to.

import type { Setting } from "./setting.ts";
import { clustersSettings } from "./settings/clusters.ts";
import { databaseSettings } from "./settings/database.ts";
import { fleetSettings } from "./settings/fleet.ts";
import { identitySettings } from "./settings/identity.ts";
import { kubernetesSettings } from "./settings/kubernetes.ts";
import { platformSettings } from "./settings/platform.ts";
import { serverSettings } from "./settings/server.ts";

/** The headings under which help and documents show the settings. */
export const groups = {
  Server: serverSettings,
  Identity: identitySettings,
  Database: databaseSettings,
  "Kubernetes API": kubernetesSettings,
  Fleet: fleetSettings,
  Clusters: clustersSettings,
  Platform: platformSettings,
} as const;

/** By key. A default that depends on another derived default stands after it: the origins after the mode. */
export const settings = {
  ...identitySettings,
  ...serverSettings,
  ...databaseSettings,
  ...kubernetesSettings,
  ...fleetSettings,
  ...clustersSettings,
  ...platformSettings,
} as const;

export type SettingKey = keyof typeof settings;

export type SettingValue<K extends SettingKey> =
  (typeof settings)[K] extends Setting<infer T> ? T : never;

/** The value of every setting. */
export type Values = { readonly [K in SettingKey]: SettingValue<K> };

/** All settings, with nothing known about their values: for whoever treats them alike. */
export const anySettings = Object.entries(settings) as unknown as readonly (readonly [
  SettingKey,
  Setting<unknown>,
])[];
