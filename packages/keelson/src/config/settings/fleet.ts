import { duration, integer, positiveDuration, text } from "../kinds.ts";
import { alias, optional, setting } from "../setting.ts";

/** Resources delivered to clusters. */
export const fleetSettings = {
  clusterId: optional(text, "the only cluster that this worker serves, from inside it", {
    aliases: [alias("CLUSTER_ID")],
  }),
  fleetPollInterval: setting(positiveDuration, "how often due work is looked for unasked", "30s"),
  fleetAuditInterval: setting(positiveDuration, "how often all generations are compared", "10m"),
  fleetStaleAfter: setting(positiveDuration, "silence after which health is unknown", "60s"),
  fleetCallTimeout: setting(positiveDuration, "longest call to a cluster", "10s"),
  fleetLease: setting(positiveDuration, "how long a claim holds", "30s"),
  fleetMaxInFlight: setting(
    integer({ min: 1, max: 10_000 }),
    "most calls at once per cluster",
    "32",
  ),
  fleetBackoffMin: setting(positiveDuration, "first wait after a failure", "1s"),
  fleetBackoffMax: setting(positiveDuration, "longest wait after failures", "5m"),
  fleetHistoryLimit: setting(
    integer({ min: 1, max: 1_000_000 }),
    "generations kept per resource",
    "1000",
  ),
  fleetEventRetention: setting(duration, "how long events are kept", "90d"),
};
