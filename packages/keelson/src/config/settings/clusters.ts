import { boolean, duration, integer, oneOf, positiveDuration, text } from "../kinds.ts";
import { alias, optional, setting } from "../setting.ts";

/** Cluster lifecycle: events, reconciliation, status, specs. */
export const clustersSettings = {
  eventTransport: setting(
    oneOf(["local", "pubsub"]),
    "how events leave",
    ({ values }) =>
      values["googleCloudProject"] === undefined
        ? { text: "local", because: "no Google Cloud project is given" }
        : { text: "pubsub", because: "a Google Cloud project is given" },
    { aliases: [alias("EVENT_TRANSPORT")] },
  ),
  googleCloudProject: optional(text, "project of the Pub/Sub topics", {
    aliases: [alias("GOOGLE_CLOUD_PROJECT")],
  }),
  pubsubEmulatorHost: optional(text, "Pub/Sub emulator to use, host:port", {
    aliases: [alias("PUBSUB_EMULATOR_HOST")],
  }),
  pubsubClusterEventsTopic: setting(text, "topic of cluster events", "cluster-events", {
    aliases: [alias("PUBSUB_CLUSTER_EVENTS_TOPIC")],
  }),
  pubsubNodepoolEventsTopic: setting(text, "topic of nodepool events", "nodepool-events", {
    aliases: [alias("PUBSUB_NODEPOOL_EVENTS_TOPIC")],
  }),
  outboxPollInterval: setting(positiveDuration, "how often the outbox is read unasked", "1s", {
    aliases: [alias("OUTBOX_POLL_INTERVAL")],
  }),
  outboxRetention: setting(duration, "how long published events stay in the outbox", "1h", {
    aliases: [alias("OUTBOX_RETENTION")],
  }),
  auditRetention: setting(duration, "how long the audit is kept", "90d", {
    aliases: [alias("AUDIT_RETENTION")],
  }),
  tombstoneRetention: setting(duration, "how long deleted clusters are remembered", "7d", {
    aliases: [alias("TOMBSTONE_RETENTION")],
  }),
  reconciliationEnabled: setting(boolean, "announce every live cluster again and again", "true", {
    aliases: [alias("RECONCILIATION_ENABLED")],
  }),
  reconciliationCheckInterval: setting(positiveDuration, "tick of the scheduler", "30s", {
    aliases: [alias("RECONCILIATION_CHECK_INTERVAL")],
  }),
  reconciliationUnhealthyInterval: setting(
    positiveDuration,
    "announcing what needs attention",
    "30s",
    { aliases: [alias("RECONCILIATION_UNHEALTHY_INTERVAL")] },
  ),
  reconciliationHealthyInterval: setting(positiveDuration, "announcing what is stable", "5m", {
    aliases: [alias("RECONCILIATION_HEALTHY_INTERVAL")],
  }),
  reconciliationNewWindow: setting(duration, "how long a cluster counts as new", "2h", {
    aliases: [alias("RECONCILIATION_NEW_WINDOW")],
  }),
  reconciliationDecayAfter: setting(
    integer({ min: 0, max: 1_000_000 }),
    "unanswered announcements before the interval doubles, 0 for never",
    "10",
    { aliases: [alias("RECONCILIATION_DECAY_AFTER")] },
  ),
  reactiveReconciliationEnabled: setting(boolean, "wake dependents after a report", "true", {
    aliases: [alias("REACTIVE_RECONCILIATION_ENABLED")],
  }),
  reactiveReconciliationMaxEventsPerMinute: setting(
    integer({ min: 1, max: 1_000_000 }),
    "most wakes of one resource in a minute",
    "60",
    { aliases: [alias("REACTIVE_RECONCILIATION_MAX_EVENTS_PER_MINUTE")] },
  ),
  statusGracePeriod: setting(duration, "patience with silent controllers", "30m", {
    aliases: [alias("STATUS_GRACE_PERIOD")],
  }),
  statusRecentWindow: setting(duration, "how long a report counts as recent", "5m", {
    aliases: [alias("STATUS_RECENT_WINDOW")],
  }),
  statusFatalFails: setting(boolean, "a fatal error fails the cluster at once", "true", {
    aliases: [alias("STATUS_FATAL_FAILS")],
  }),
  defaultClusterVersion: optional(text, "release version of a spec that names none", {
    aliases: [alias("DEFAULT_CLUSTER_VERSION")],
  }),
  defaultChannelGroup: optional(
    oneOf(["stable", "fast", "candidate", "eus"]),
    "channel group of a spec that names none",
    { aliases: [alias("DEFAULT_CHANNEL_GROUP")] },
  ),
};
