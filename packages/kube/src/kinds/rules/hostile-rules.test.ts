// Objects that nobody sends by accident: what is said of them stays small, and is said soon.

import assert from "node:assert/strict";
import { after, suite, test } from "node:test";
import { Worker } from "node:worker_threads";

import type { JsonObject } from "@keelson/base";

import { validateMetadata, validateMetadataUpdate } from "../../object/metadata-rules.ts";
import { subdomainNames } from "../../object/names.ts";
import { toldErrorsMax } from "../../status/field-error.ts";
import { Thread } from "../../testing/soon.ts";

interface Verdict {
  readonly causes: readonly { readonly message: string }[];
  readonly message: string;
  readonly warnings: readonly string[];
}

const here = `file://${import.meta.dirname}`;
const program = `
  import { parentPort } from "node:worker_threads";
  import { rulesOf } from "${here}/rules-of.ts";
  import { invalid } from "${here}/../../status/failures.ts";
  const context = { now: "2026-01-01T00:00:00Z", uuid: () => "u" };
  parentPort.on("message", ({ group, kind, object, old }) => {
    const rules = rulesOf({ group, kind });
    if (old?.status !== undefined) rules.prepareForStatusUpdate?.(object, old, context);
    const errors = old === undefined
      ? rules.validate(object, context)
      : (old.status === undefined ? rules.validateUpdate : rules.validateStatusUpdate)(object, old, context);
    const { status } = invalid({ group, kind }, "x", errors);
    const { message, details: { causes = [] } } = JSON.parse(JSON.stringify(status));
    const warnings = [...(rules.warnings?.(object, old) ?? [])];
    parentPort.postMessage({ message, causes, warnings });
  });`;

const thread = new Thread(
  () =>
    new Worker(new URL(`data:text/javascript,${encodeURIComponent(program)}`), {
      resourceLimits: { maxOldGenerationSizeMb: 512 },
    }),
);

/** What the rules of a kind say, in a thread that has little memory and not for ever. */
async function verdict(
  [group, kind]: readonly [string, string],
  object: JsonObject,
  old?: JsonObject,
): Promise<Verdict> {
  return (await thread.ask({ group, kind, object, old })) as Verdict;
}

const pod = ["", "Pod"] as const;
const many = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));
const container = { name: "c", image: "i", imagePullPolicy: "Always" };
const podOf = (spec: JsonObject, own: JsonObject = {}): JsonObject => ({
  metadata: { name: "p", namespace: "n" },
  spec: {
    restartPolicy: "Always",
    dnsPolicy: "ClusterFirst",
    terminationGracePeriodSeconds: 30,
    containers: [{ ...container, terminationMessagePolicy: "File", ...own }],
    ...spec,
  },
});
const filesOf = (paths: readonly string[]): JsonObject =>
  podOf({
    volumes: [
      {
        name: "v",
        configMap: {
          name: "m",
          defaultMode: 420,
          items: paths.map((path, index) => ({ key: `k${index}`, path })),
        },
      },
    ],
  });

suite("what hostile objects are told", () => {
  after(() => thread[Symbol.asyncDispose]());

  for (const [what, kind, object, old] of [
    [
      "terms that are all empty",
      ["storage.k8s.io", "StorageClass"],
      {
        provisioner: "x.io/p",
        volumeBindingMode: "Immediate",
        reclaimPolicy: "Delete",
        allowedTopologies: many(100_000, () => ({})),
      },
    ],
    [
      "scopes of a quota that do not fit its resources",
      ["", "ResourceQuota"],
      {
        spec: {
          scopes: many(20_000, () => "BestEffort"),
          hard: Object.fromEntries(many(20_000, (index) => [`hugepages-${index}`, "1"])),
        },
      },
    ],
    [
      "a selector of a quota that does not fit its resources",
      ["", "ResourceQuota"],
      {
        spec: {
          scopeSelector: {
            matchExpressions: many(10_000, () => ({ scopeName: "BestEffort", operator: "Exists" })),
          },
          hard: Object.fromEntries(many(10_000, (index) => [`hugepages-${index}`, "1"])),
        },
      },
    ],
    [
      "scopes that nobody knows",
      ["", "ResourceQuota"],
      { spec: { scopes: many(500_000, () => "x"), hard: {} } },
    ],
    [
      "pairs of a registry that are none",
      pod,
      podOf({
        volumes: [{ name: "v", quobyte: { registry: "a,".repeat(1_000_000), volume: "w" } }],
      }),
    ],
    [
      "uses of claims that are not there",
      pod,
      podOf(
        {
          resourceClaims: many(40_000, (index) => ({ name: `c${index}`, resourceClaimName: "r" })),
        },
        { resources: { claims: many(40_000, (index) => ({ name: `d${index}` })) } },
      ),
    ],
    [
      "uses of parts of a claim before the whole",
      pod,
      podOf(
        {
          resourceClaims: many(100, (index) => ({ name: `c${index}`, resourceClaimName: "r" })),
        },
        {
          resources: {
            claims: [
              ...many(60_000, (index) => ({ name: "c1", request: `r${index}` })),
              { name: "c1" },
            ],
          },
        },
      ),
    ],
    [
      "steps of a path that are none",
      ["admissionregistration.k8s.io", "ValidatingWebhookConfiguration"],
      {
        webhooks: [
          {
            name: "a.b.c",
            sideEffects: "None",
            admissionReviewVersions: ["v1"],
            failurePolicy: "Fail",
            matchPolicy: "Exact",
            timeoutSeconds: 1,
            namespaceSelector: {},
            objectSelector: {},
            rules: [],
            clientConfig: {
              service: { namespace: "n", name: "s", port: 443, path: "/A".repeat(1_000_000) },
            },
          },
        ],
      },
    ],
    [
      "served versions that cannot be decoded",
      ["internal.apiserver.k8s.io", "StorageVersion"],
      {
        spec: {},
        status: {
          storageVersions: [
            {
              apiServerID: "a",
              encodingVersion: "v1",
              decodableVersions: many(60_000, (index) => `v1a${index}`),
              servedVersions: many(60_000, (index) => `v1b${index}`),
            },
          ],
        },
      },
      { status: {} },
    ],
    [
      "labels of a template that are none",
      ["apps", "Deployment"],
      {
        metadata: { name: "d", namespace: "n" },
        spec: {
          selector: { matchLabels: { a: "b" } },
          template: {
            metadata: {
              labels: Object.fromEntries(many(200_000, (index) => [`-${index}`, "-"])),
              annotations: Object.fromEntries(many(200_000, (index) => [`-${index}`, "-"])),
            },
            spec: podOf({})["spec"] as JsonObject,
          },
        },
      },
    ],
  ] as readonly (readonly [string, readonly [string, string], JsonObject, JsonObject?])[]) {
    test(`${what}: a bounded answer, which says so`, async () => {
      const { causes, message } = await verdict(kind, object, old);
      assert.ok(causes.length > 1 && causes.length <= 1_001, String(causes.length));
      assert.ok(message.length < 16 * 1024 * 1024, String(message.length));
      assert.match(causes.at(-1)?.message ?? "", /more errors/);
      assert.match(message, /more errors[^,]*\]$/);
    });
  }

  for (const [what, object, first] of [
    [
      "ports of one number",
      podOf({}, { ports: many(100_000, () => ({ containerPort: 1, protocol: "TCP" })) }),
      "spec.containers[0].ports[1]: duplicate port definition with spec.containers[0].ports[0]",
    ],
    [
      "ports that are not in each other's way but for the last two",
      podOf(
        {},
        {
          ports: [
            ...many(60_000, (index) => ({
              containerPort: 1,
              hostPort: index + 1,
              hostIP: `10.0.0.${index % 200}`,
              protocol: "TCP",
            })),
            { containerPort: 1, hostPort: 61_000, hostIP: "10.0.0.1", protocol: "TCP" },
            { containerPort: 1, hostPort: 61_000, protocol: "TCP" },
          ],
        },
      ),
      "spec.containers[0].ports[60001]: dangerously ambiguous port definition with spec.containers[0].ports[60000]",
    ],
    [
      "files of one path",
      filesOf(many(100_000, () => "a")),
      'volume "v" (ConfigMap "m"): overlapping paths: "a" with "a"',
    ],
    [
      "files below one another",
      filesOf(many(1_500, (index) => "a/".repeat(index + 1))),
      'volume "v" (ConfigMap "m"): overlapping paths: "a/a" with "a"',
    ],
    [
      "files that are not in each other's way but for the last two",
      filesOf([...many(100_000, (index) => `f${index}`), "z/y", "z"]),
      'volume "v" (ConfigMap "m"): overlapping paths: "z" with "z/y"',
    ],
    [
      "a file with three megabytes of slashes",
      filesOf([`a${"/".repeat(3 * 1024 * 1024)}x`, "a"]),
      undefined,
    ],
    [
      "variables that hide others",
      podOf({}, { env: many(200_000, () => ({ name: "a" })) }),
      'spec.containers[0].env[1]: hides previous definition of "a", which may be dropped when using apply',
    ],
  ] as const) {
    test(`${what}: few warnings, and soon`, async () => {
      const { message, warnings } = await verdict(pod, object);
      assert.equal(message, 'Pod "x" is invalid');
      assert.ok(warnings.length > 0 && warnings.length <= 100, String(warnings.length));
      if (first !== undefined) assert.equal(warnings[0], first);
    });
  }

  for (const [what, kind, object, old] of [
    [
      "the name of an iSCSI node that begins again and again",
      pod,
      podOf({
        volumes: [
          {
            name: "v",
            iscsi: { targetPortal: "1.1.1.1:1", lun: 1, iqn: "iqn.2001-04.".repeat(250_000) },
          },
        ],
      }),
    ],
    [
      "profiles of containers that are not there",
      ["apps", "Deployment"],
      {
        metadata: { name: "d", namespace: "n" },
        spec: {
          template: {
            metadata: {
              annotations: Object.fromEntries(
                many(20_000, (index) => [
                  `container.apparmor.security.beta.kubernetes.io/${index}`,
                  "unconfined",
                ]),
              ),
            },
            spec: podOf({ containers: many(300_000, () => ({})) })["spec"] as JsonObject,
          },
        },
      },
    ],
    [
      "amounts of many init containers",
      pod,
      podOf({
        resources: { requests: { cpu: "1" } },
        initContainers: [
          {
            ...container,
            name: "i",
            restartPolicy: "Always",
            resources: {
              requests: Object.fromEntries(many(50_000, (index) => [`x.io/${index}`, "1"])),
            },
          },
          ...many(200_000, () => ({})),
        ],
      }),
    ],
    [
      "health of claims that are not there",
      pod,
      {
        ...podOf({}, { resources: { claims: many(60_000, (index) => ({ name: `c${index}` })) } }),
        status: {
          containerStatuses: [
            {
              name: "c",
              allocatedResourcesStatus: many(60_000, (index) => ({ name: `claim:d${index}` })),
            },
          ],
        },
      },
      { ...podOf({}), status: {} },
    ],
    [
      "conditions of one type",
      pod,
      { ...podOf({}), status: { conditions: many(150_000, () => ({ type: "a" })) } },
      { ...podOf({}), status: { conditions: many(150_000, () => ({ type: "a" })) } },
    ],
    [
      "drivers of a node",
      ["storage.k8s.io", "CSINode"],
      { spec: { drivers: many(60_000, (index) => ({ name: `d${index}`, nodeID: "n" })) } },
      { spec: { drivers: many(60_000, (index) => ({ name: `d${index}`, nodeID: "m" })) } },
    ],
  ] as readonly (readonly [string, readonly [string, string], JsonObject, JsonObject?])[]) {
    test(`${what}: judged soon`, async () => {
      const { causes } = await verdict(kind, object, old);
      assert.ok(causes.length <= 1_001, String(causes.length));
    });
  }

  test("of as many wrong labels as a request has room for, no more are found than are told", () => {
    const labels = Object.fromEntries(many(200_000, (index) => [`-${index}`, "-"]));
    const metadata = { name: "x", labels, resourceVersion: "1" };
    const options = { isNamespaced: false, nameRule: subdomainNames };
    assert.equal(validateMetadata(metadata, options).length, toldErrorsMax + 1);
    assert.equal(validateMetadataUpdate(metadata, metadata).length, toldErrorsMax + 1);
  });
});
