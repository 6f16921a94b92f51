import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { concerns, holds, judge, problemOf, viewOf, type Precondition } from "./preconditions.ts";
import type { Report, Reports, Resource } from "./resource.ts";

const resource: Resource = {
  id: "c1",
  name: "prod",
  generation: 3,
  resource_version: "v",
  spec: {
    platform: { type: "GCP" },
    dns: { baseDomain: "example.com", empty: null },
    zones: ["a", "b"],
    network: { cidr: "10.0.0.0/8", pods: { size: 24 } },
  },
  status: { phase: "Progressing" },
  created_by: "alice@example.com",
  created_at: "2026-01-01T00:00:00Z",
  updated_at: "2026-01-01T00:00:00Z",
};

function report(name: string, overrides: Partial<Report> = {}): Report {
  return {
    controller_name: name,
    observed_generation: 3,
    conditions: [{ type: "Available", status: "True", reason: "Ready", message: "" }],
    metadata: { release_image: "img" },
    ...overrides,
  };
}

const reports: Reports = {
  "version.resolution": report("version.resolution"),
};

suite("preconditions", () => {
  const table: readonly [Precondition["field"], Precondition["operator"], unknown, boolean][] = [
    ["spec.dns.baseDomain", "eq", "example.com", true],
    ["spec.dns.baseDomain", "eq", "Example.com", false],
    ["spec.dns.missing", "eq", "x", false],
    ["spec.dns.baseDomain", "ne", "example.com", false],
    ["spec.dns.missing", "ne", "x", true],
    ["spec.dns.baseDomain", "in", ["x", "example.com"], true],
    ["spec.dns.missing", "in", ["x"], false],
    ["spec.dns.baseDomain", "notin", ["example.com"], false],
    ["spec.dns.missing", "notin", ["x"], true],
    ["spec.dns.baseDomain", "exists", undefined, true],
    ["spec.dns.empty", "exists", undefined, true],
    ["spec.dns.missing", "exists", undefined, false],
    ["spec.dns.missing", "notexists", undefined, true],
    ["spec.dns.baseDomain.deeper", "notexists", undefined, true],
    ["spec.platform.type", "eq", "gcp", true],
    ["spec.platform.type", "in", ["aws", "Gcp"], true],
    ["spec.platform.type", "ne", "gcp", false],
    ["spec.zones", "eq", ["a", "b"], true],
    ["spec.zones", "eq", ["b", "a"], false],
    ["spec.zones.1", "eq", "b", true],
    ["spec.network", "eq", { pods: { size: 24 }, cidr: "10.0.0.0/8" }, true],
    ["spec.network", "in", [{ cidr: "10.0.0.0/8" }], false],
    ["generation", "eq", 3, true],
    ["id", "eq", "c1", true],
    ["name", "notin", ["prod"], false],
    ["status.phase", "eq", "Progressing", true],
    ["status.controller_statuses.version.resolution.Available", "eq", "True", true],
    [
      "status.controller_statuses.version.resolution.metadata.release_image",
      "exists",
      undefined,
      true,
    ],
    ["status.controller_statuses.other", "exists", undefined, false],
    ["spec.constructor", "exists", undefined, false],
  ];
  for (const [field, operator, value, expected] of table) {
    test(`${field} ${operator} ${JSON.stringify(value) ?? ""} is ${expected}`, () => {
      const precondition = { field, operator, value } as Precondition;
      assert.equal(holds(precondition, viewOf(resource, reports)), expected);
    });
  }

  test("unmet on the spec does not apply, unmet on status waits, and the spec weighs more", () => {
    const status: Precondition = { field: "status.phase", operator: "eq", value: "Ready" };
    const spec: Precondition = { field: "spec.aws", operator: "exists" };
    const verdict = (...preconditions: Precondition[]) =>
      judge({ preconditions, dependsOn: [] }, resource, reports).verdict;
    assert.deepEqual(
      [verdict(), verdict(status), verdict(spec), verdict(status, spec)],
      ["met", "waits", "notApplicable", "notApplicable"],
    );
  });

  const dependency = {
    controller: "dns",
    condition: "Available",
    metadataKey: "zone",
  };
  const met = report("dns", { metadata: { zone: "z" } });
  const cases: readonly [string, Report | undefined, string][] = [
    ["it has not reported", undefined, "dns has not reported yet"],
    [
      "its report is for an older generation",
      { ...met, observed_generation: 2 },
      "dns has reported for generation 2, not yet for 3",
    ],
    ["its condition is not True", { ...met, conditions: [] }, "dns is not Available yet"],
    ["its metadata lack the key", { ...met, metadata: {} }, "dns has not told zone yet"],
    ["everything is there", met, "met"],
  ];
  for (const [name, dns, expected] of cases) {
    test(`a dependency, when ${name}`, () => {
      const verdict = judge(
        { preconditions: [], dependsOn: [dependency] },
        resource,
        dns === undefined ? {} : { dns },
      );
      assert.equal(verdict.verdict === "met" ? "met" : verdict.reason, expected);
    });
  }

  test("platforms ignore case, and no platform concerns everybody", () => {
    assert.deepEqual(
      [
        concerns([], "aws"),
        concerns(["GCP"], "gcp"),
        concerns(["gcp"], "aws"),
        concerns(["gcp"], undefined),
      ],
      [true, true, false, true],
    );
  });

  test("what cannot be meant is told", () => {
    const wrong = [
      { field: "labels.a", operator: "exists" },
      { field: "spec..a", operator: "exists" },
      { field: "spec.a", operator: "eq" },
      { field: "spec.a", operator: "in", value: "x" },
      { field: "spec.a", operator: "exists", value: true },
      { field: "spec.a", operator: "gt", value: 1 },
    ] as readonly Precondition[];
    assert.deepEqual(
      wrong.map((one) => problemOf(one) !== undefined),
      wrong.map(() => true),
    );
    assert.equal(problemOf({ field: "spec.a", operator: "eq", value: null }), undefined);
  });
});
