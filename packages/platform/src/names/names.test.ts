import assert from "node:assert/strict";
import { suite, test } from "node:test";
import * as fc from "fast-check";

import { budgetProblems } from "./budgets.ts";
import { bucketVariable, namesOf, type Named } from "./names.ts";

const options = { baseDomain: "example.com", previewHosts: "nested" } as const;
const of = (named: Partial<Named>) =>
  namesOf({ app: "my-app", environment: "production", ...named }, options);

suite("names", () => {
  test("of an app in each environment", () => {
    const preview = { environment: "preview", pullRequest: 42 } as const;
    const shown = [
      of({}),
      of({ environment: "staging" }),
      of({ environment: "uat" }),
      of(preview),
    ].map((names) => [
      names.name,
      names.schema,
      names.appRole,
      names.anonRole,
      names.bucket("uploads"),
      names.realm,
      names.client,
      names.domain,
      names.namespace,
      names.searchPrefix,
    ]);
    assert.deepEqual(shown, [
      [
        "my-app",
        "prod_my_app",
        "prod_my_app_app",
        "prod_my_app_anon",
        "plattr-prod-my-app-uploads",
        "my-app",
        "my-app",
        "my-app.example.com",
        undefined,
        "prod_my_app_",
      ],
      [
        "my-app",
        "staging_my_app",
        "staging_my_app_app",
        "staging_my_app_anon",
        "plattr-staging-my-app-uploads",
        "my-app-staging",
        "my-app",
        "my-app.staging.example.com",
        undefined,
        "staging_my_app_",
      ],
      [
        "my-app",
        "uat_my_app",
        "uat_my_app_app",
        "uat_my_app_anon",
        "plattr-uat-my-app-uploads",
        "my-app-uat",
        "my-app",
        "my-app.uat.example.com",
        undefined,
        "uat_my_app_",
      ],
      [
        "my-app-pr42",
        "my_app_pr42",
        "my_app_pr42_app",
        "my_app_pr42_anon",
        "plattr-preview-my-app-pr42-uploads",
        "my-app-pr42-preview",
        "my-app-pr42",
        "pr-42.my-app.preview.example.com",
        "preview-my-app-pr-42",
        "my_app_pr42_",
      ],
    ]);
  });

  test("schemas come from schemaName, roles from the name", () => {
    const own = of({ schemaName: "shop" });
    const preview = of({ schemaName: "shop", environment: "preview", pullRequest: 7 });
    assert.deepEqual(
      [own.schema, own.appRole, preview.schema, preview.appRole],
      ["prod_shop", "prod_my_app_app", "shop_pr7", "my_app_pr7_app"],
    );
  });

  test("hosts of previews fit one wildcard certificate when asked to, and a domain of one's own wins", () => {
    const preview: Named = { app: "my-app", environment: "preview", pullRequest: 42 };
    const single = namesOf(preview, { baseDomain: "example.com", previewHosts: "single-label" });
    assert.deepEqual(
      [single.domain, of({ domain: "shop.example.org" }).domain],
      ["my-app-pr-42.preview.example.com", "shop.example.org"],
    );
  });

  test("a preview without its pull request has no name", () => {
    assert.throws(() => of({ environment: "preview" }), /has no name without its pull request/);
  });

  test("nobody gets the realm of Keycloak's administrators", () => {
    assert.throws(() => of({ app: "master" }), { reason: "InvalidSpec", message: /realm master/ });
    assert.equal(of({ app: "master", environment: "uat" }).realm, "master-uat");
  });

  test("two buckets never share a variable", () => {
    assert.equal(bucketVariable("user-uploads"), "S3_BUCKET_USER_UPLOADS");
    const name = fc.stringMatching(/^[a-z0-9]([-a-z0-9]{0,6}[a-z0-9])?$/);
    fc.assert(
      fc.property(name, name, (one, other) => {
        assert.equal(bucketVariable(one) === bucketVariable(other), one === other);
      }),
    );
  });
});

suite("budgets", () => {
  const all = {
    database: { enabled: true },
    storage: { enabled: true, buckets: [{ name: "uploads", public: false }] },
  };
  const none = {};
  const long = (length: number) => of({ app: "a".repeat(length) });

  test("63 bytes fit, one more is named with its excess", () => {
    assert.deepEqual(budgetProblems(long(63), none), []);
    const [service, label, ...others] = budgetProblems(long(64), none);
    assert.deepEqual(others, []);
    assert.match(service ?? "", /^the Service would be called a{64}, 1 more than the 63 bytes/);
    assert.match(label ?? "", /^the DNS label would be called a{64}, 1 more/);
  });

  test("names of features that are off do not count", () => {
    const off = {
      database: { enabled: false },
      storage: { ...all.storage, enabled: false },
    };
    assert.deepEqual(budgetProblems(long(54), off), []);
    // prod_ and _anon are ten more; plattr-prod- and -uploads twenty.
    assert.deepEqual(
      budgetProblems(long(54), all).map((problem) => problem.replace(/ called \S+,.*/, "")),
      ["the role would be", "the bucket would be"],
    );
  });
});
