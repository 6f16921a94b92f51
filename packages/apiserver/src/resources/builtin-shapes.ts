// Built-in kinds that are one object in two shapes: both Events, and both versions of an autoscaler.

import type { JsonObject } from "@keelson/base";
import {
  apiVersionOf,
  AutoscalerConversion,
  convertEvent,
  type BuiltinKind,
  type BuiltinKinds,
  type ManagedVersion,
} from "@keelson/kube";

import { once } from "./once.ts";
import type { Storage } from "./resource.ts";

/** A shape of an object, and the other. */
export interface Shapes {
  readonly storage: Storage;
  /** Whether this is the shape in which objects are stored; then the next two give back what they get. */
  readonly isStored: boolean;
  readonly fromStored: (stored: JsonObject) => JsonObject;
  readonly toStored: (object: JsonObject) => JsonObject;
  /** Whether the rules of the kind speak of the stored shape, not of its own. */
  readonly rulesAreOfStored: boolean;
  /** The other shape, with which somebody may manage fields. */
  readonly others: () => ReadonlyMap<string, ManagedVersion>;
}

interface Family {
  readonly kind: string;
  readonly storedKind: string;
  /** By `apiVersion`, the stored one first: the type, and what makes this shape of the other. */
  readonly shapes: Readonly<Record<string, Shape>>;
  readonly rulesAreOfStored: boolean;
}

interface Shape {
  readonly type: string;
  readonly convert: (object: JsonObject, kinds: BuiltinKinds) => JsonObject;
}

const autoscalers = new WeakMap<BuiltinKinds, AutoscalerConversion>();

/** Its decoders are dear, and the same for everybody. */
function autoscalersOf(kinds: BuiltinKinds): AutoscalerConversion {
  const known = autoscalers.get(kinds);
  if (known !== undefined) return known;
  const conversion = new AutoscalerConversion(kinds);
  autoscalers.set(kinds, conversion);
  return conversion;
}

const families: readonly Family[] = [
  {
    kind: "Event",
    storedKind: "Event",
    shapes: {
      v1: { type: "core.v1.Event", convert: (event) => convertEvent(event, "core") },
      "events.k8s.io/v1": {
        type: "events.v1.Event",
        convert: (event) => convertEvent(event, "events"),
      },
    },
    rulesAreOfStored: false,
  },
  {
    kind: "HorizontalPodAutoscaler",
    storedKind: "HorizontalPodAutoscaler.autoscaling",
    shapes: {
      "autoscaling/v2": {
        type: "autoscaling.v2.HorizontalPodAutoscaler",
        convert: (object, kinds) => autoscalersOf(kinds).toV2(object),
      },
      "autoscaling/v1": {
        type: "autoscaling.v1.HorizontalPodAutoscaler",
        convert: (object, kinds) => autoscalersOf(kinds).toV1(object),
      },
    },
    rulesAreOfStored: true,
  },
];

/** The shapes of a kind; undefined for one that has but one. */
export function shapesOf(kinds: BuiltinKinds, kind: BuiltinKind): Shapes | undefined {
  const own = apiVersionOf(kind);
  const family = families.find((one) => one.kind === kind.kind && Object.hasOwn(one.shapes, own));
  if (family === undefined) return undefined;
  const [stored = ""] = Object.keys(family.shapes);
  const to = (apiVersion: string): ((object: JsonObject) => JsonObject) => {
    const shape = family.shapes[apiVersion];
    return (object) =>
      shape === undefined || object["apiVersion"] === apiVersion
        ? object
        : shape.convert(object, kinds);
  };
  return {
    storage: { kind: family.storedKind, apiVersion: stored },
    isStored: own === stored,
    fromStored: to(own),
    toStored: to(stored),
    rulesAreOfStored: family.rulesAreOfStored && own !== stored,
    others: once(
      () =>
        new Map(
          Object.entries(family.shapes)
            .filter(([apiVersion]) => apiVersion !== own)
            .map(([apiVersion, { type }]) => [
              apiVersion,
              { schema: kinds.schemaOf(type), convert: to(apiVersion) },
            ]),
        ),
    ),
  };
}
