// The kinds of ark.mckinsey.com with their rules, as the configuration wants them.

import {
  arkAdmission,
  arkLookup,
  arkResources,
  ModelHosts,
  type AdmissionPlugin,
  type ClusterValues,
  type Resource,
} from "@keelson/apiserver";
import type { Store } from "@keelson/store";
import type { Config } from "./config.ts";

export interface ArkKindsOptions {
  readonly config: Pick<Config, "allowedPrivateIpRanges" | "whitelistedModelDomains">;
  /** Where they are kept. */
  readonly store: Store;
  /** The Secrets and ConfigMaps that they name. */
  readonly values: ClusterValues;
}

/** What a server needs to serve them. */
export function arkKinds({ config, store, values }: ArkKindsOptions): {
  readonly resources: readonly Resource[];
  readonly admission: readonly AdmissionPlugin[];
} {
  const { allowedPrivateIpRanges = [], whitelistedModelDomains = [] } = config;
  const modelHosts = new ModelHosts({
    allowedRanges: allowedPrivateIpRanges,
    domains: whitelistedModelDomains,
  });
  return {
    resources: arkResources(),
    admission: [arkAdmission({ lookup: arkLookup(store, values), modelHosts })],
  };
}
