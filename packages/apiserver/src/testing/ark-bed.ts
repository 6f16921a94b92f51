// The admission of the Ark kinds without a server: reading, rules and all, over objects that a test says are there.

import { isJsonObject, type JsonObject, type MutableJsonObject } from "@keelson/base";
import { printFieldError, StatusError, type FieldError } from "@keelson/kube";

import type { AdmissionRequest } from "../admission/admission.ts";
import { arkAdmission } from "../ark/admission/ark-admission.ts";
import type { ArkLookup } from "../ark/admission/lookup.ts";
import { ModelHosts, type ModelHostsOptions } from "../ark/admission/model-hosts.ts";
import { arkResources } from "../ark/ark-kinds.ts";
import { anonymous } from "../auth/user.ts";

const resources = arkResources();
const context = { now: "2026-01-01T00:00:00Z", uuid: () => "00000000-0000-0000-0000-000000000000" };

export interface ArkWrite {
  readonly plural: string;
  readonly name?: string;
  readonly spec?: unknown;
  readonly metadata?: JsonObject;
  /** What the object was before; new unless told. */
  readonly old?: { readonly spec: unknown; readonly metadata?: JsonObject };
  readonly subresource?: string;
  /** Other objects, by `Kind/name`, all in the namespace of the write. */
  readonly world?: Readonly<Record<string, JsonObject>>;
  readonly hosts?: Partial<ModelHostsOptions>;
}

export interface ArkOutcome {
  /** Empty where there is none; anything if that was written. */
  readonly spec: JsonObject;
  readonly annotations: JsonObject;
  readonly warnings: readonly string[];
  /** `path: Invalid value: …`, the schema's before the rules'. */
  readonly errors: readonly string[];
}

/** What admission makes of a write in namespace `team`. */
export async function admitArk(write: ArkWrite): Promise<ArkOutcome> {
  const { plural, name = "x", spec, metadata = {}, old, subresource = "" } = write;
  const resource = resources.find((one) => one.plural === plural);
  if (resource === undefined) throw new Error(`there are no ${plural}`);
  const { group, version, kind, isNamespaced, model } = resource;
  const objectOf = (spec: unknown, metadata: JsonObject): MutableJsonObject => {
    const object = {
      apiVersion: `${group}/${version}`,
      kind,
      metadata: { name, ...(isNamespaced ? { namespace: "team" } : {}), ...metadata },
      ...(spec === undefined ? {} : { spec }),
    };
    return model.read(object as JsonObject, context).object;
  };
  const object = objectOf(spec, metadata);
  const before = old === undefined ? undefined : objectOf(old.spec, old.metadata ?? {});
  const warnings: string[] = [];
  const request: AdmissionRequest = {
    operation: before === undefined ? "CREATE" : "UPDATE",
    resource,
    subresource,
    namespace: isNamespaced ? "team" : "",
    name,
    user: anonymous,
    object,
    old: before,
    isDryRun: false,
    warn: (text) => warnings.push(text),
  };
  const plugin = arkAdmission({
    lookup: worldLookup(write.world ?? {}),
    modelHosts: new ModelHosts({ allowedRanges: [], domains: [], ...write.hosts }),
  });
  const { signal } = new AbortController();
  await plugin.admit?.(request, signal);
  const errors = [...schemaErrors()].map(printFieldError);
  if (errors.length === 0) {
    try {
      await plugin.validate?.(request, signal);
    } catch (error) {
      if (!(error instanceof StatusError)) throw error;
      const { causes = [] } = error.status.details ?? {};
      errors.push(...causes.map(({ field, message }) => `${field}: ${message}`));
    }
  }
  const { annotations } = object["metadata"] as JsonObject;
  const result = object["spec"];
  return {
    spec: result === undefined ? {} : (result as JsonObject),
    annotations: isJsonObject(annotations) ? annotations : {},
    warnings,
    errors,
  };

  function schemaErrors(): readonly FieldError[] {
    return before === undefined
      ? model.validate(object, context)
      : model.validateUpdate(object, before, context);
  }
}

function worldLookup(world: Readonly<Record<string, JsonObject>>): ArkLookup {
  const at = (kind: string, name: string): Promise<JsonObject | undefined> =>
    Promise.resolve(world[`${kind}/${name}`]);
  return {
    find: (kind, { name }) => at(kind, name),
    secret: ({ name }) => at("Secret", name),
    configMap: ({ name }) => at("ConfigMap", name),
  };
}
