// What is right in a Pod but perhaps not meant.

import type { JsonObject } from "@keelson/base";

import { quote } from "../../../../go-text/quote.ts";
import {
  annotationsOf,
  has,
  maybeNumber,
  maybeObject,
  objectOf,
  objectsOf,
  sortedKeys,
  textOf,
  textsOf,
} from "../../../../object/members.ts";
import { addressWarnings } from "../../addresses.ts";
import { semanticEqual } from "../../semantic-equal.ts";
import { claimSpecWarnings, fractionWarnings } from "../claim-warnings.ts";
import { deprecatedSourceWarnings } from "../deprecated-sources.ts";
import { deprecatedLabel, nodeTermWarnings } from "../node-labels.ts";
import { preferred, required } from "./affinity-terms.ts";
import { appArmorPrefix, seccompKey, seccompPrefix } from "./annotations.ts";
import { appArmorProfileOf, appArmorWarning } from "./app-armor.ts";
import { allContainers, type PlacedContainer } from "./each-container.ts";
import { overlapWarnings } from "./overlapping-paths.ts";
import { portWarnings } from "./port-warnings.ts";
import { firstWarnings } from "../../../warning-list.ts";

/** What to say of a Pod. */
export function podSpecWarnings(pod: JsonObject): readonly string[] {
  return firstWarnings(warningsOf(pod, { prefix: "", isTemplate: false }));
}

/** What to say of a template; `path` is where it stands. */
export function templateWarnings(template: JsonObject, path: string): readonly string[] {
  return firstWarnings(warningsOf(template, { prefix: `${path}.`, isTemplate: true }));
}

interface Surroundings {
  readonly prefix: string;
  readonly isTemplate: boolean;
}

const deprecatedAnnotations: readonly (readonly [key: string, message: string])[] = [
  [
    "scheduler.alpha.kubernetes.io/critical-pod",
    'non-functional in v1.16+; use the "priorityClassName" field instead',
  ],
  [
    "security.alpha.kubernetes.io/sysctls",
    'non-functional in v1.11+; use the "sysctls" field instead',
  ],
  [
    "security.alpha.kubernetes.io/unsafe-sysctls",
    'non-functional in v1.11+; use the "sysctls" field instead',
  ],
];

function* warningsOf(pod: JsonObject, { prefix, isTemplate }: Surroundings): Iterable<string> {
  const spec = objectOf(pod, "spec");
  const annotations = annotationsOf(pod);
  const at = `${prefix}spec`;
  for (const key of sortedKeys(objectOf(spec, "nodeSelector"))) {
    const instead = deprecatedLabel(key);
    if (instead !== undefined) yield `${at}.nodeSelector[${key}]: ${instead}`;
  }
  yield* nodeAffinityWarnings(spec, `${at}.affinity.nodeAffinity`);
  yield* spreadWarnings(spec, `${at}.topologySpreadConstraints`);
  for (const [key, message] of deprecatedAnnotations) {
    if (has(annotations, key)) yield `${prefix}metadata.annotations[${key}]: ${message}`;
  }
  yield* volumeWarnings(spec, `${at}.volumes`);
  yield* overlapWarnings(objectsOf(spec, "volumes"));
  yield* repeated(objectsOf(spec, "hostAliases"), `${at}.hostAliases`, "ip");
  yield* repeated(objectsOf(spec, "imagePullSecrets"), `${at}.imagePullSecrets`, "name");
  for (const [index, secret] of objectsOf(spec, "imagePullSecrets").entries()) {
    if (textOf(secret, "name") === "") {
      yield `${at}.imagePullSecrets[${index}].name: invalid empty name ""`;
    }
  }
  for (const resource of ["memory", "ephemeral-storage"]) {
    yield* fractionWarnings(objectOf(spec, "overhead"), { path: `${at}.overhead`, resource });
  }
  if (!has(objectOf(spec, "securityContext"), "seccompProfile") && has(annotations, seccompKey)) {
    yield seccompWarning(prefix, seccompKey);
  }
  const podProfile = maybeObject(objectOf(spec, "securityContext"), "appArmorProfile");
  for (const placed of allContainers(spec)) {
    yield* containerWarnings(placed, { at, prefix, annotations, podProfile, isTemplate });
  }
  yield* portWarnings(spec, at);
  const period = maybeNumber(spec, "terminationGracePeriodSeconds");
  if (period !== undefined && period < 0) {
    yield `${at}.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1`;
  }
  for (const name of ["podAffinity", "podAntiAffinity"]) {
    yield* podAffinityWarnings(spec, `${at}.affinity`, name);
  }
  for (const [index, server] of textsOf(objectOf(spec, "dnsConfig"), "nameservers").entries()) {
    yield* addressWarnings(server, `${at}.dnsConfig.nameservers[${index}]`);
  }
  for (const [index, alias] of objectsOf(spec, "hostAliases").entries()) {
    yield* addressWarnings(textOf(alias, "ip"), `${at}.hostAliases[${index}].ip`);
  }
}

const nullSelector = "a null labelSelector results in matching no pod";

function nodeAffinityWarnings(spec: JsonObject, path: string): readonly string[] {
  const node = objectOf(objectOf(spec, "affinity"), "nodeAffinity");
  return [
    ...objectsOf(objectOf(node, required), "nodeSelectorTerms").flatMap((term, index) =>
      nodeTermWarnings(term, {
        path: `${path}.${required}.nodeSelectorTerms[${index}]`,
        checkValues: false,
      }),
    ),
    ...objectsOf(node, preferred).flatMap((term, index) =>
      nodeTermWarnings(objectOf(term, "preference"), {
        path: `${path}.${preferred}[${index}].preference`,
        checkValues: true,
      }),
    ),
  ];
}

function podAffinityWarnings(spec: JsonObject, path: string, name: string): readonly string[] {
  const part = objectOf(objectOf(spec, "affinity"), name);
  const isNull = (term: JsonObject): boolean => !has(term, "labelSelector");
  return [
    ...objectsOf(part, required).flatMap((term, index) =>
      isNull(term) ? [`${path}.${name}.${required}[${index}].labelSelector: ${nullSelector}`] : [],
    ),
    ...objectsOf(part, preferred).flatMap((term, index) =>
      isNull(objectOf(term, "podAffinityTerm"))
        ? [`${path}.${name}.${preferred}[${index}].podAffinityTerm.labelSelector: ${nullSelector}`]
        : [],
    ),
  ];
}

function spreadWarnings(spec: JsonObject, path: string): readonly string[] {
  return objectsOf(spec, "topologySpreadConstraints").flatMap((constraint, index) => {
    const key = textOf(constraint, "topologyKey");
    const instead = deprecatedLabel(key);
    return [
      ...(instead === undefined ? [] : [`${path}[${index}].topologyKey: ${key} is ${instead}`]),
      ...(has(constraint, "labelSelector")
        ? []
        : [`${path}[${index}].labelSelector: ${nullSelector}`]),
    ];
  });
}

function* volumeWarnings(spec: JsonObject, path: string): Iterable<string> {
  for (const [index, volume] of objectsOf(spec, "volumes").entries()) {
    const place = `${path}[${index}]`;
    yield* deprecatedSourceWarnings(volume, place);
    const claim = objectOf(objectOf(volume, "ephemeral"), "volumeClaimTemplate");
    yield* claimSpecWarnings(
      objectOf(claim, "spec"),
      `${place}.ephemeral.volumeClaimTemplate.spec`,
    );
  }
}

function repeated(items: readonly JsonObject[], path: string, name: string): readonly string[] {
  const seen = new Set<string>();
  return items.flatMap((item, index) => {
    const value = textOf(item, name);
    if (seen.has(value)) return [`${path}[${index}].${name}: duplicate ${name} ${quote(value)}`];
    seen.add(value);
    return [];
  });
}

interface ContainerContext {
  readonly at: string;
  readonly prefix: string;
  readonly annotations: JsonObject;
  readonly podProfile: JsonObject | undefined;
  readonly isTemplate: boolean;
}

function* containerWarnings(
  { container, list, index }: PlacedContainer,
  { at, prefix, annotations, podProfile, isTemplate }: ContainerContext,
): Iterable<string> {
  const place = `${at}.${list}[${index}]`;
  const name = textOf(container, "name");
  const security = objectOf(container, "securityContext");
  if (!has(security, "seccompProfile") && has(annotations, seccompPrefix + name)) {
    yield seccompWarning(prefix, seccompPrefix + name);
  }
  const key = appArmorPrefix + name;
  if (isTemplate && !has(security, "appArmorProfile") && has(annotations, key)) {
    const profile = appArmorProfileOf(textOf(annotations, key));
    if (podProfile === undefined || !semanticEqual(podProfile, profile)) {
      yield appArmorWarning(prefix, key);
    }
  }
  const resources = objectOf(container, "resources");
  for (const resource of ["memory", "ephemeral-storage"]) {
    for (const amounts of ["limits", "requests"]) {
      const path = `${place}.resources.${amounts}`;
      yield* fractionWarnings(objectOf(resources, amounts), { path, resource });
    }
  }
  yield* envWarnings(container, `${place}.env`);
}

/** Variables that hide others of the same name without using them. */
function envWarnings(container: JsonObject, path: string): readonly string[] {
  const seen = new Set<string>();
  return objectsOf(container, "env").flatMap((variable, index) => {
    const [name, value] = [textOf(variable, "name"), textOf(variable, "value")];
    if (!seen.has(name)) {
      seen.add(name);
      return [];
    }
    const reference = `$(${name})`;
    const isUsing = !has(variable, "valueFrom") && value !== reference && value.includes(reference);
    if (isUsing) return [];
    return [
      `${path}[${index}]: hides previous definition of ${quote(name)}, which may be dropped when using apply`,
    ];
  });
}

function seccompWarning(prefix: string, key: string): string {
  return `${prefix}metadata.annotations[${key}]: non-functional in v1.27+; use the "seccompProfile" field instead`;
}
