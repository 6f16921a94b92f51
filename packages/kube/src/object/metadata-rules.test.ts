import assert from "node:assert/strict";
import { suite, test } from "node:test";

import { seededRandom, type JsonObject } from "@keelson/base";

import { printFieldErrors } from "../status/field-error.ts";
import { generateName } from "./generate-name.ts";
import {
  managerFromUserAgent,
  validateFieldManager,
  validateMetadata,
  validateMetadataUpdate,
  validateNamePrefix,
} from "./metadata-rules.ts";
import {
  label1035Names,
  labelKeyProblems,
  labelNames,
  labelValueProblems,
  pathSegmentNames,
  subdomainNames,
} from "./names.ts";
import { refuseParameters } from "./write-options.ts";

suite("names", () => {
  for (const [rule, name, problems] of [
    [subdomainNames, "a.b-c", []],
    [
      subdomainNames,
      "A",
      [
        "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
      ],
    ],
    [labelNames, "a.b", ["must not contain dots"]],
    [labelNames, "a".repeat(64), ["must be no more than 63 characters"]],
    [
      label1035Names,
      "1a",
      [
        "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')",
      ],
    ],
    [pathSegmentNames, "a%/", ["may not contain '/'", "may not contain '%'"]],
    [pathSegmentNames, "..", ["may not be '..'"]],
    [
      labelKeyProblems,
      "example.com/",
      [
        "name part must be non-empty",
        "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
      ],
    ],
    [labelValueProblems, "x".repeat(64), ["must be no more than 63 bytes"]],
  ] as const) {
    test(`${name.slice(0, 20)}: ${problems.join("; ").slice(0, 40)}`, () =>
      assert.deepEqual(rule(name), problems));
  }

  test("a prefix may end with a dash", () => {
    assert.deepEqual(subdomainNames("web-", { asPrefix: true }), []);
    assert.equal(subdomainNames("web-").length, 1);
  });

  test("far too long ones are refused in no time", () => {
    for (const rule of [
      subdomainNames,
      labelNames,
      label1035Names,
      labelKeyProblems,
      labelValueProblems,
    ]) {
      for (const text of [
        "a".repeat(1_000_000),
        `${"-".repeat(1_000_000)}x`,
        "a.".repeat(500_000),
      ]) {
        assert.ok(rule(text).length > 0);
      }
    }
  });

  test("begin with what fits into a path, also where it is cut away", () => {
    const prefix = `${"x".repeat(60)}/-`;
    const metadata = { name: "x", namespace: "n", generateName: prefix };
    assert.deepEqual(
      validateMetadata(metadata, { isNamespaced: true, nameRule: subdomainNames }),
      [],
    );
    assert.equal(
      printFieldErrors(validateNamePrefix(metadata)),
      `metadata.generateName: Invalid value: "${prefix}": may not contain '/'`,
    );
    assert.deepEqual(validateNamePrefix({ name: "x" }), []);
  });

  test("are generated from the alphabet of Kubernetes", () => {
    const random = seededRandom(7);
    assert.match(generateName("web-", random), /^web-[bcdfghjklmnpqrstvwxz2456789]{5}$/);
    assert.equal(generateName("x".repeat(80), random).length, 63);
  });
});

suite("metadata", () => {
  const options = { isNamespaced: true, nameRule: subdomainNames };
  const errorsOf = (metadata: JsonObject): string =>
    printFieldErrors(validateMetadata(metadata, options));

  test("of an ordinary object is right", () => {
    assert.deepEqual(
      validateMetadata({ name: "a", namespace: "default", labels: { a: "b" } }, options),
      [],
    );
  });

  for (const [metadata, message] of [
    [{ namespace: "x" }, "metadata.name: Required value: name or generateName is required"],
    [{ name: "a" }, "metadata.namespace: Required value"],
    [
      { name: "a", namespace: "b", finalizers: ["orphan", "foregroundDeletion"] },
      'metadata.finalizers: Invalid value: ["orphan","foregroundDeletion"]: finalizer orphan and foregroundDeletion cannot be both set',
    ],
    [
      { name: "a", namespace: "b", annotations: { k: "x".repeat(262_145) } },
      "metadata.annotations: Too long: may not be more than 262144 bytes",
    ],
    [
      {
        name: "a",
        namespace: "b",
        ownerReferences: [{ apiVersion: "v1", kind: "X", name: "x", uid: "" }],
      },
      'metadata.ownerReferences.uid: Invalid value: "": must not be empty',
    ],
  ] as const satisfies readonly (readonly [JsonObject, string])[]) {
    test(message, () => assert.equal(errorsOf(metadata), message));
  }

  test("may not change what identifies the object", () => {
    const old = {
      name: "a",
      uid: "u",
      resourceVersion: "1",
      deletionTimestamp: "2026-01-01T00:00:00Z",
    };
    assert.equal(
      printFieldErrors(validateMetadataUpdate({ ...old, uid: "v", finalizers: ["x/y"] }, old)),
      '[metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"x/y"}, metadata.uid: Invalid value: "v": field is immutable]',
    );
  });
});

suite("parameters of writes", () => {
  test("are refused with all that is wrong", () => {
    const error = refuseParameters(
      "PatchOptions",
      { force: true, dryRun: ["Some"], fieldValidation: "x" },
      { isApply: false },
    );
    assert.equal(
      error?.message,
      'PatchOptions.meta.k8s.io "" is invalid: [force: Forbidden: may not be specified for non-apply patch, dryRun: Unsupported value: ["Some"]: supported values: "All", fieldValidation: Unsupported value: "x": supported values: "", "Ignore", "Strict", "Warn"]',
    );
    assert.equal(
      refuseParameters("PatchOptions", {}, { isApply: true })?.message,
      'PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for apply patch',
    );
    assert.equal(
      refuseParameters("CreateOptions", { dryRun: ["All"] }, { isApply: false }),
      undefined,
    );
  });

  test("a field manager is printable, and short", () => {
    assert.equal(
      printFieldErrors(validateFieldManager("a\n", "fieldManager")),
      'fieldManager: Invalid value: "a\\n": invalid character U+000A (at position 1)',
    );
    assert.equal(validateFieldManager("x".repeat(129), "fieldManager").length, 1);
    assert.equal(managerFromUserAgent("kubectl/v1.36 (linux)"), "kubectl");
    assert.equal(managerFromUserAgent(`a\u0007${"b".repeat(200)}`).length, 128);
  });
});
