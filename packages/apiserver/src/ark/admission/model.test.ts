import assert from "node:assert/strict";
import { suite, test } from "node:test";

import { admitArk, type ArkWrite } from "../../testing/ark-bed.ts";

const base64 = (text: string): string => Buffer.from(text).toString("base64");
const world = {
  "Secret/s": {
    data: {
      key: base64("k"),
      url: base64("https://api.openai.com\n"),
      inside: base64("https://10.0.0.1/very-secret"),
    },
  },
  "ConfigMap/c": { data: { url: "https://api.openai.com", plain: "http://api.openai.com/hidden" } },
};
const value = { value: "v" };
const secret = (key: string) => ({ valueFrom: { secretKeyRef: { name: "s", key } } });
const baseUrl = { value: "https://api.openai.com" };
const openai = { baseUrl, apiKey: value };
const closed =
  "must not lead to a loopback, private or link-local address, unless ALLOWED_PRIVATE_IP_RANGES has it";

function write(spec: object, more: Partial<ArkWrite> = {}) {
  return admitArk({ plural: "models", spec: { model: value, ...spec }, world, ...more });
}

async function judge(
  cases: readonly (readonly [what: string, spec: object, errors: readonly string[]])[],
): Promise<void> {
  for (const [what, spec, errors] of cases) {
    assert.deepEqual((await write(spec)).errors, errors, what);
  }
}

const ofOpenai = (block: object) => ({
  provider: "openai",
  config: { openai: { ...openai, ...block } },
});
const ofAzure = (block: object) => ({
  provider: "azure",
  config: { azure: { baseUrl, ...block } },
});
const ofBedrock = (block: object) => ({ provider: "bedrock", config: { bedrock: block } });

suite("admission of models", () => {
  test("a provider in type moves to provider", async () => {
    for (const provider of ["openai", "azure", "bedrock"]) {
      const config = { openai, azure: { baseUrl, apiKey: value }, bedrock: {} };
      const text = `a provider as type is deprecated, ${provider} is now the provider and type is completions`;
      for (const other of [{}, { provider: "azure" }]) {
        assert.deepEqual(await write({ type: provider, config, ...other }), {
          spec: { model: value, type: "completions", provider, config, pollInterval: "5m" },
          annotations: { "ark.mckinsey.com/migration-warning-provider": text },
          warnings: [text],
          errors: [],
        });
      }
    }
  });

  test("a provider is named, and its block is there", async () => {
    await judge([
      ["all of it", ofOpenai({}), []],
      [
        "no provider",
        { config: { openai } },
        ["spec.provider: Required value: must be one of openai, azure, bedrock"],
      ],
      [
        "no block",
        { provider: "azure", config: { openai } },
        ["spec.config.azure: Required value: provider azure needs it"],
      ],
      [
        "a block of somebody else beside",
        { provider: "bedrock", config: { openai, bedrock: {} } },
        [],
      ],
    ]);
  });

  test("azure: apiKey, or exactly one way of auth", async () => {
    const identity = { workloadIdentity: { clientId: value, tenantId: value } };
    await judge([
      ["a key", ofAzure({ apiKey: value }), []],
      ["a key of auth", ofAzure({ auth: { apiKey: value } }), []],
      ["a managed identity", ofAzure({ auth: { managedIdentity: {} } }), []],
      ["a workload's identity", ofAzure({ auth: identity }), []],
      ["a key and auth", ofAzure({ apiKey: value, auth: identity }), []],
      [
        "none",
        ofAzure({}),
        ["spec.config.azure.auth: Required value: apiKey or auth must be given"],
      ],
      [
        "empty auth",
        ofAzure({ apiKey: value, auth: {} }),
        [
          "spec.config.azure.auth: Required value: one of apiKey, managedIdentity, workloadIdentity must be given",
        ],
      ],
      [
        "all of them",
        ofAzure({ auth: { apiKey: value, managedIdentity: {}, ...identity } }),
        [
          "spec.config.azure.auth.managedIdentity: Forbidden: may not be given beside apiKey",
          "spec.config.azure.auth.workloadIdentity: Forbidden: may not be given beside apiKey",
        ],
      ],
    ]);
  });

  test("keys that are named are there, wherever", async () => {
    const no = (at: string) =>
      `spec.${at}.valueFrom.secretKeyRef.key: Not found: "no": the Secret s has no such key`;
    const gone = secret("no");
    const headers = [{ name: "h", value: gone }];
    const properties = { "a.b": gone };
    await judge([
      ["the model", { ...ofOpenai({}), model: gone }, [no("model")]],
      [
        "openai",
        ofOpenai({ apiKey: gone, baseUrl: gone, headers, properties }),
        [
          no("config.openai.apiKey"),
          no("config.openai.properties[a.b]"),
          no("config.openai.headers[0].value"),
          no("config.openai.baseUrl"),
        ],
      ],
      [
        "azure",
        ofAzure({ apiKey: gone, apiVersion: gone, auth: { apiKey: gone }, properties, headers }),
        [
          no("config.azure.apiKey"),
          no("config.azure.apiVersion"),
          no("config.azure.auth.apiKey"),
          no("config.azure.properties[a.b]"),
          no("config.azure.headers[0].value"),
        ],
      ],
      [
        "azure's identities",
        ofAzure({ auth: { workloadIdentity: { clientId: gone, tenantId: gone } } }),
        [
          no("config.azure.auth.workloadIdentity.clientId"),
          no("config.azure.auth.workloadIdentity.tenantId"),
        ],
      ],
      [
        "azure's managed identity",
        ofAzure({ auth: { managedIdentity: { clientId: gone } } }),
        [no("config.azure.auth.managedIdentity.clientId")],
      ],
      [
        "bedrock",
        ofBedrock({
          region: gone,
          accessKeyId: gone,
          secretAccessKey: gone,
          sessionToken: gone,
          modelArn: gone,
          baseUrl: gone,
          properties,
        }),
        [
          no("config.bedrock.region"),
          no("config.bedrock.accessKeyId"),
          no("config.bedrock.secretAccessKey"),
          no("config.bedrock.sessionToken"),
          no("config.bedrock.modelArn"),
          no("config.bedrock.properties[a.b]"),
          no("config.bedrock.baseUrl"),
        ],
      ],
      [
        "those of a block that is not used are not asked for",
        {
          provider: "bedrock",
          config: { bedrock: {}, openai: { baseUrl: gone, apiKey: gone } },
        },
        [],
      ],
      [
        "headers have one source",
        ofOpenai({ headers: [{ name: "h", value: {} }] }),
        ["spec.config.openai.headers[0].value: Required value: value or valueFrom must be given"],
      ],
    ]);
  });

  test("the base URL is judged wherever it stands, and shown only where the object says it", async () => {
    const at = "spec.config.openai.baseUrl";
    const from = (valueFrom: object) => ofOpenai({ baseUrl: { valueFrom } });
    const noUrl = "must be an https URL with a host";
    await judge([
      ["a Secret's", ofOpenai({ baseUrl: secret("url") }), []],
      ["a ConfigMap's", from({ configMapKeyRef: { name: "c", key: "url" } }), []],
      ["a Service's", from({ serviceRef: { name: "gpt", port: "443", path: "/v1" } }), []],
      [
        "plain",
        ofOpenai({ baseUrl: { value: "http://api.openai.com" } }),
        [`${at}.value: Invalid value: "http://api.openai.com": ${noUrl}`],
      ],
      [
        "inside",
        ofOpenai({ baseUrl: { value: "https://169.254.169.254/" } }),
        [`${at}.value: Invalid value: "https://169.254.169.254/": ${closed}`],
      ],
      [
        "inside, in a Secret",
        ofOpenai({ baseUrl: secret("inside") }),
        [`${at}.valueFrom.secretKeyRef: Invalid value: ${closed}`],
      ],
      [
        "plain, in a ConfigMap",
        from({ configMapKeyRef: { name: "c", key: "plain" } }),
        [`${at}.valueFrom.configMapKeyRef: Invalid value: ${noUrl}`],
      ],
      [
        "a Service without TLS",
        from({ serviceRef: { name: "gpt", namespace: "models" } }),
        [
          `${at}.valueFrom.serviceRef: Invalid value: "http://gpt.models.svc.cluster.local": ${noUrl}`,
        ],
      ],
      [
        "none",
        ofOpenai({ baseUrl: {} }),
        [`${at}: Required value: value or valueFrom must be given`],
      ],
      [
        "one of the query's",
        from({ queryParameterRef: { name: "url" } }),
        [
          `${at}.valueFrom.queryParameterRef: Forbidden: no query is asked yet where a base URL is judged`,
        ],
      ],
      [
        "two",
        ofOpenai({ baseUrl: { ...baseUrl, ...secret("url") } }),
        [`${at}.valueFrom: Forbidden: may not be given beside value`],
      ],
      [
        "one that may be absent, and is",
        from({ secretKeyRef: { name: "s", key: "no", optional: true } }),
        [`${at}: Required value: a base URL must be given`],
      ],
      [
        "the same of bedrock, which needs none",
        ofBedrock({
          baseUrl: { valueFrom: { secretKeyRef: { name: "s", key: "no", optional: true } } },
        }),
        [],
      ],
      [
        "bedrock's",
        ofBedrock({ baseUrl: { value: "https://[::1]" } }),
        [`spec.config.bedrock.baseUrl.value: Invalid value: "https://[::1]": ${closed}`],
      ],
      [
        "azure's",
        ofAzure({ apiKey: value, baseUrl: { value: "ftp://x" } }),
        [`spec.config.azure.baseUrl.value: Invalid value: "ftp://x": ${noUrl}`],
      ],
    ]);
  });

  test("what is allowed, and what must be", async () => {
    const spec = ofOpenai({ baseUrl: { value: "https://10.1.2.3" } });
    const allowed = await write(spec, { hosts: { allowedRanges: ["10.0.0.0/8"] } });
    assert.deepEqual(allowed.errors, []);
    const elsewhere = await write(ofOpenai({}), { hosts: { domains: ["azure.com"] } });
    assert.deepEqual(elsewhere.errors, [
      'spec.config.openai.baseUrl.value: Invalid value: "https://api.openai.com": must be at a host that WHITELISTED_MODEL_DOMAINS names',
    ]);
  });
});
