// The variables of cluster lifecycle by the names that people bring: what each is without, and with, and what it refuses.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { Config } from "../config.ts";
import { loadSettings } from "../testing/settings.ts";
import { ConfigError } from "./config-error.ts";

const load = (environment: Readonly<Record<string, string>>): Promise<Config> =>
  loadSettings({ environment });

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

/** Variable, setting, what it is unless told; a text, what that makes it; texts that stop the start. */
const table: readonly (readonly [
  variable: string,
  setting: keyof Config,
  usual: unknown,
  given: string,
  value: unknown,
  wrong: readonly string[],
])[] = [
  ["DATABASE_MAX_OPEN_CONNS", "databaseMaxOpenConns", 25, "7", 7, ["0", "many", "2.5"]],
  ["DATABASE_CONN_MAX_LIFETIME", "databaseConnMaxLifetime", 5 * minute, "90s", 90_000, ["0s", "5"]],
  ["DATABASE_CONN_MAX_IDLE_TIME", "databaseConnMaxIdleTime", minute, "2m", 2 * minute, ["-1s"]],
  ["EVENT_TRANSPORT", "eventTransport", "local", "local", "local", ["kafka"]],
  ["PUBSUB_CLUSTER_EVENTS_TOPIC", "pubsubClusterEventsTopic", "cluster-events", "x", "x", []],
  ["PUBSUB_NODEPOOL_EVENTS_TOPIC", "pubsubNodepoolEventsTopic", "nodepool-events", "y", "y", []],
  ["OUTBOX_POLL_INTERVAL", "outboxPollInterval", 1_000, "250ms", 250, ["0s", "soon"]],
  ["OUTBOX_RETENTION", "outboxRetention", hour, "2h", 2 * hour, ["an hour"]],
  ["AUDIT_RETENTION", "auditRetention", 90 * day, "1d", day, ["-1d"]],
  ["TOMBSTONE_RETENTION", "tombstoneRetention", 7 * day, "1d", day, ["x"]],
  ["CONTROLLER_EMAIL", "controllerEmail", "controller@system.local", "a@b.c", "a@b.c", ["nobody"]],
  ["RECONCILIATION_ENABLED", "reconciliationEnabled", true, "false", false, ["perhaps"]],
  ["RECONCILIATION_CHECK_INTERVAL", "reconciliationCheckInterval", 30_000, "1s", 1_000, ["0s"]],
  [
    "RECONCILIATION_UNHEALTHY_INTERVAL",
    "reconciliationUnhealthyInterval",
    30_000,
    "10s",
    10_000,
    ["0s"],
  ],
  [
    "RECONCILIATION_HEALTHY_INTERVAL",
    "reconciliationHealthyInterval",
    5 * minute,
    "1m",
    minute,
    ["0s"],
  ],
  ["RECONCILIATION_NEW_WINDOW", "reconciliationNewWindow", 2 * hour, "1h", hour, ["new"]],
  ["RECONCILIATION_DECAY_AFTER", "reconciliationDecayAfter", 10, "0", 0, ["-1"]],
  [
    "REACTIVE_RECONCILIATION_ENABLED",
    "reactiveReconciliationEnabled",
    true,
    "false",
    false,
    ["off?"],
  ],
  [
    "REACTIVE_RECONCILIATION_MAX_EVENTS_PER_MINUTE",
    "reactiveReconciliationMaxEventsPerMinute",
    60,
    "5",
    5,
    ["0"],
  ],
  ["STATUS_GRACE_PERIOD", "statusGracePeriod", 30 * minute, "1m", minute, ["30"]],
  ["STATUS_RECENT_WINDOW", "statusRecentWindow", 5 * minute, "1m", minute, ["-5m"]],
  ["STATUS_FATAL_FAILS", "statusFatalFails", true, "false", false, ["2"]],
  ["DEFAULT_CLUSTER_VERSION", "defaultClusterVersion", undefined, "4.20", "4.20", []],
  ["DEFAULT_CHANNEL_GROUP", "defaultChannelGroup", undefined, "eus", "eus", ["nightly"]],
];

suite("settings of cluster lifecycle", () => {
  for (const [variable, setting, usual, given, value, wrong] of table) {
    test(`${variable} is ${String(usual)} unless told, and stops the start where it is wrong`, async () => {
      assert.deepEqual((await load({}))[setting], usual);
      assert.deepEqual((await load({ [variable]: given }))[setting], value);
      for (const text of wrong) {
        const error = await load({ [variable]: text }).then(
          () => undefined,
          (error: unknown) => error,
        );
        assert.ok(error instanceof ConfigError, `${variable}=${text} was accepted`);
        assert.ok(error.message.includes(variable), error.message);
      }
    });
  }

  test("events go to Pub/Sub where a project is given, unless told otherwise", async () => {
    const project = { GOOGLE_CLOUD_PROJECT: "p", PUBSUB_EMULATOR_HOST: "127.0.0.1:1" };
    const { eventTransport, googleCloudProject, pubsubEmulatorHost } = await load(project);
    assert.deepEqual(
      [eventTransport, googleCloudProject, pubsubEmulatorHost],
      ["pubsub", "p", "127.0.0.1:1"],
    );
    assert.equal((await load({ ...project, EVENT_TRANSPORT: "local" })).eventTransport, "local");
  });
});
