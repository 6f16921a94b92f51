// Model: whose it is, how to reach it, and with which keys.

import type { FieldPlace } from "@keelson/kube";

import type { ModelSpec } from "../model.ts";
import { specToFill, type ArkRules, type Asking } from "./ark-rules.ts";
import { noteMigration } from "./migration.ts";
import {
  checkKeys,
  checkOneSource,
  headersAt,
  valueOfKey,
  type PlacedSource,
  type Sourced,
} from "./sources.ts";

const providers = ["openai", "azure", "bedrock"] as const;

export const modelRules: ArkRules<ModelSpec> = {
  default: (object, { warn }) => {
    const spec = specToFill(object);
    const provider = providers.find((one) => one === spec?.["type"]);
    if (spec === undefined || provider === undefined) return;
    spec["provider"] = provider;
    spec["type"] = "completions";
    const text = `a provider as type is deprecated, ${provider} is now the provider and type is completions`;
    noteMigration(object, { topic: "provider", text }, warn);
  },

  validate: async ({ spec }, at, asking) => {
    await checkKeys([{ source: spec.model, at: at.child("model") }], asking);
    const { provider, config } = spec;
    if (provider === undefined) {
      at.child("provider").required(`must be one of ${providers.join(", ")}`);
      return;
    }
    const place = at.child("config").child(provider);
    const block = config[provider];
    if (block === undefined) {
      place.required(`provider ${provider} needs it`);
      return;
    }
    if (config.azure === block) checkAzure(config.azure, place);
    const headers = "headers" in block ? headersAt(block.headers, place.child("headers")) : [];
    checkOneSource(headers);
    await checkKeys([...valuesAt(block, place), ...headers], asking);
    await checkBaseUrl(block.baseUrl, place.child("baseUrl"), {
      isRequired: provider !== "bedrock",
      asking,
    });
  },
};

type Azure = NonNullable<ModelSpec["config"]["azure"]>;
type Block = NonNullable<ModelSpec["config"][keyof ModelSpec["config"]]>;

const waysOfAuth = ["apiKey", "managedIdentity", "workloadIdentity"] as const;

function checkAzure({ apiKey, auth }: Azure, at: FieldPlace): void {
  if (auth === undefined) {
    if (apiKey === undefined) at.child("auth").required("apiKey or auth must be given");
    return;
  }
  const [first, ...others] = waysOfAuth.filter((way) => auth[way] !== undefined);
  if (first === undefined) {
    at.child("auth").required(`one of ${waysOfAuth.join(", ")} must be given`);
  }
  for (const other of others) {
    at.child("auth").child(other).forbidden(`may not be given beside ${first}`);
  }
}

/** Everything of a block that may come from elsewhere, but for its base URL, which is judged by itself. */
function valuesAt(block: Block, at: FieldPlace): PlacedSource[] {
  const { properties = {}, ...rest } = block;
  const auth = "auth" in block ? block.auth : undefined;
  const named: (readonly [string, Sourced | undefined, FieldPlace])[] = [
    ...["apiKey", "apiVersion", ...bedrockValues].map(
      (name) => [name, (rest as Readonly<Record<string, Sourced>>)[name], at] as const,
    ),
    ["apiKey", auth?.apiKey, at.child("auth")],
    ["clientId", auth?.managedIdentity?.clientId, at.child("auth").child("managedIdentity")],
    ["clientId", auth?.workloadIdentity?.clientId, at.child("auth").child("workloadIdentity")],
    ["tenantId", auth?.workloadIdentity?.tenantId, at.child("auth").child("workloadIdentity")],
  ];
  return [
    ...named.flatMap(([name, source, place]) =>
      source === undefined ? [] : [{ source, at: place.child(name) }],
    ),
    ...Object.entries(properties).map(([name, source]) => ({
      source,
      at: at.child("properties").key(name),
    })),
  ];
}

const bedrockValues = [
  "region",
  "accessKeyId",
  "secretAccessKey",
  "sessionToken",
  "modelArn",
] as const;

async function checkBaseUrl(
  source: Sourced | undefined,
  at: FieldPlace,
  { isRequired, asking }: { readonly isRequired: boolean; readonly asking: Asking },
): Promise<void> {
  if (source === undefined) return;
  const before = at.errors.length;
  checkOneSource([{ source, at }]);
  if (at.errors.length > before) return;
  const found = await resolveUrl(source, at, asking);
  if (at.errors.length > before) return;
  if (found === undefined) {
    if (isRequired) at.required("a base URL must be given");
    return;
  }
  const problem = asking.modelHosts.problemOf(found.url);
  if (problem === undefined) return;
  // What stands in a Secret or a ConfigMap is not for everybody who may write a Model.
  if (found.isSaid) found.at.invalid(found.url, problem);
  else found.at.invalidUnshown(problem);
}

interface FoundUrl {
  readonly url: string;
  readonly at: FieldPlace;
  /** Whether it stands in the object itself. */
  readonly isSaid: boolean;
}

/** The URL that a source means now; undefined where it means none, which is said unless it may be so. */
async function resolveUrl(
  { value = "", valueFrom }: Sourced,
  at: FieldPlace,
  asking: Asking,
): Promise<FoundUrl | undefined> {
  if (valueFrom === undefined) return { url: value, at: at.child("value"), isSaid: true };
  const from = at.child("valueFrom");
  const { secretKeyRef, configMapKeyRef, queryParameterRef } = valueFrom;
  if (queryParameterRef !== undefined) {
    from.child("queryParameterRef").forbidden("no query is asked yet where a base URL is judged");
    return undefined;
  }
  if ("serviceRef" in valueFrom && valueFrom.serviceRef !== undefined) {
    const { name, namespace = "", port = "", path = "" } = valueFrom.serviceRef;
    const host = `${name}.${namespace === "" ? asking.namespace : namespace}.svc.cluster.local`;
    const scheme = port === "443" ? "https" : "http";
    const url = `${scheme}://${host}${port === "" ? "" : `:${port}`}${path}`;
    return { url, at: from.child("serviceRef"), isSaid: true };
  }
  const [kind, reference, place] =
    secretKeyRef === undefined
      ? (["ConfigMap", configMapKeyRef, from.child("configMapKeyRef")] as const)
      : (["Secret", secretKeyRef, from.child("secretKeyRef")] as const);
  if (reference === undefined) return undefined;
  const url = await valueOfKey(kind, reference, place, asking);
  return url === undefined ? undefined : { url: url.trim(), at: place, isSaid: false };
}
