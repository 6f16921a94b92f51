import assert from "node:assert/strict";
import { suite, test } from "node:test";

import {
  accessBlock,
  bucketPolicy,
  corsRules,
  isSameBlock,
  isSameCors,
  isSamePolicy,
} from "./bucket-settings.ts";

const open = { bucket: "b", region: "eu-west-1", isPublic: true };
const closed = { ...open, isPublic: false };
const policyOf = (...statements: object[]): string =>
  JSON.stringify({ Version: "2012-10-17", Statement: statements });
const deny = { Sid: "TlsOnly", Effect: "Deny", Principal: "*", Action: "s3:*", Resource: "*" };
const allow = { Effect: "Allow", Principal: "*", Action: "s3:PutObject", Resource: "*" };

suite("what a bucket is set to", () => {
  test("a policy opens it to readers, and is gone when it is closed", () => {
    const policy = bucketPolicy(undefined, open);
    assert.deepEqual(JSON.parse(policy ?? ""), {
      Version: "2012-10-17",
      Statement: [
        {
          Sid: "PublicRead",
          Effect: "Allow",
          Principal: "*",
          Action: "s3:GetObject",
          Resource: "arn:aws:s3:::b/*",
        },
      ],
    });
    assert.equal(bucketPolicy(policy, closed), undefined);
    assert.match(bucketPolicy(undefined, { ...open, region: "cn-north-1" }) ?? "", /arn:aws-cn:/);
    assert.match(
      bucketPolicy(undefined, { ...open, region: "us-gov-west-1" }) ?? "",
      /arn:aws-us-gov:/,
    );
  });

  test("what others forbid stays forbidden, what others allow does not", () => {
    const found = policyOf(deny, allow);
    assert.equal(bucketPolicy(found, closed), policyOf(deny));
    const statements = JSON.parse(bucketPolicy(found, open) ?? "") as { Statement: object[] };
    assert.deepEqual(
      statements.Statement.map((one) => (one as { Sid?: string }).Sid),
      ["TlsOnly", "PublicRead"],
    );
    assert.equal(bucketPolicy("no policy", closed), undefined);
    assert.equal(isSamePolicy("no policy", undefined), false);
  });

  test("a policy is the same however a store writes it down", () => {
    const wanted = bucketPolicy(undefined, open);
    const written = policyOf({
      Sid: "PublicRead",
      Effect: "Allow",
      Principal: { AWS: ["*"] },
      Action: ["s3:GetObject"],
      Resource: ["arn:aws:s3:::b/*"],
    });
    assert.equal(isSamePolicy(written, wanted), true);
    const others = [written.replace("b/*", "c/*"), written.replace('"*"', '"you"'), undefined];
    for (const other of others) assert.equal(isSamePolicy(other, wanted), false, other);
  });

  test("rules for browsers are the same in any order, and with one more they are not", () => {
    const [rule] = corsRules(["https://a", "https://b"]);
    assert.ok(rule);
    const wanted = corsRules(["https://b", "https://a"]);
    assert.equal(isSameCors([rule], wanted), true);
    assert.equal(isSameCors([], wanted), false);
    assert.equal(isSameCors([rule, rule], wanted), false);
    for (const change of [
      { AllowedOrigins: ["*"] },
      { AllowedMethods: ["GET"] },
      { AllowedHeaders: [] },
      { ExposeHeaders: ["etag"] },
      { MaxAgeSeconds: 60 },
    ]) {
      assert.equal(isSameCors([{ ...rule, ...change }], wanted), false, JSON.stringify(change));
    }
  });

  test("a block lets a policy open a bucket, and grants never", () => {
    assert.deepEqual(accessBlock({ isPublic: true }), {
      BlockPublicAcls: true,
      IgnorePublicAcls: true,
      BlockPublicPolicy: false,
      RestrictPublicBuckets: false,
    });
    const wanted = accessBlock({ isPublic: false });
    assert.ok(Object.values(wanted).every((value) => value));
    assert.equal(isSameBlock(wanted, wanted), true);
    assert.equal(isSameBlock({ ...wanted, BlockPublicPolicy: false }, wanted), false);
    assert.equal(isSameBlock({}, wanted), false);
  });
});
