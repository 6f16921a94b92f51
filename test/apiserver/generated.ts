// Cases from a seed: objects of many kinds, mostly valid, through writes chosen by chance.

import {
  cloneJson,
  isJsonArray,
  isJsonObject,
  seededRandom,
  type Json,
  type JsonObject,
  type MutableJson,
  type Random,
} from "@keelson/base";

import { builtInSubjects, type Subject } from "../oracle/differential/subjects.ts";
import { collectionPath } from "../oracle/kinds/paths.ts";
import type { Case } from "./case.ts";
import type { Lab } from "./lab.ts";
import { managerKey } from "./normalise.ts";

const stepsMax = 6;

/** As many cases as asked for; the same seed gives the same ones. */
export function generatedCases(seed: string, count: number): readonly Case[] {
  return Array.from({ length: count }, (_, index) => {
    const name = `generated: ${seed}/${index}`;
    return {
      name,
      run: async (lab: Lab): Promise<void> => {
        const random = seededRandom(name);
        await writes(
          lab,
          random,
          random.pick(builtInSubjects.filter(({ isNamespaced }) => isNamespaced)),
        );
      },
    };
  });
}

async function writes(lab: Lab, random: Random, subject: Subject): Promise<void> {
  const { group, version, kind } = subject;
  const collection = collectionPath(subject, lab.ns);
  const path = `${collection}/x`;
  const make = (): JsonObject => {
    const made = subject.make(random);
    // Owners that do not exist have their own cases: the garbage collector would take part here.
    const { ownerReferences: _, ...metadata } = isJsonObject(made["metadata"])
      ? made["metadata"]
      : {};
    return {
      apiVersion: group === "" ? version : `${group}/${version}`,
      kind,
      ...made,
      metadata: { ...metadata, name: "x" },
    };
  };
  await lab.post(`${collection}${options(random)}`, broken(random, make()));
  for (let step = 1 + random.integer(stepsMax); step > 0; step -= 1) {
    const manager = random.pick(["one", "two", "three"]);
    const query = options(random, `fieldManager=${manager}`);
    switch (random.integer(9)) {
      case 0:
        await lab.post(collection, make());
        break;
      case 1:
        await lab.put(`${path}${query}`, broken(random, make()));
        break;
      case 2: {
        const { body, isAccepted } = await lab.quietly({ path });
        if (isAccepted && isJsonObject(body))
          await lab.put(`${path}${query}`, broken(random, withManagersInOrder(body)));
        break;
      }
      case 3:
        await lab.patch("merge", `${path}${query}`, part(random, make()));
        break;
      case 4:
        if (subject.isBuiltIn)
          await lab.patch("strategic", `${path}${query}`, part(random, make()));
        break;
      case 5:
      case 6: {
        const force = random.integer(3) === 0 ? "&force=true" : "";
        await lab.patch("apply", `${path}${query}${force}`, broken(random, make()));
        break;
      }
      case 7:
        if (subject.status !== undefined) {
          await lab.patch("merge", `${path}/status${query}`, {
            status: subject.status.make(random),
          });
        } else await lab.get(path);
        break;
      default:
        await lab.delete(`${path}?propagationPolicy=Background`);
    }
  }
  await lab.get(path);
}

/** Of managers the server that was slower may have another first (KB 42), and both are to be told the same. */
function withManagersInOrder(object: JsonObject): JsonObject {
  const { metadata } = object;
  const entries = isJsonObject(metadata) ? metadata["managedFields"] : undefined;
  if (!isJsonObject(metadata) || !isJsonArray(entries)) return object;
  const managedFields = entries.toSorted((a, b) => (managerKey(a) < managerKey(b) ? -1 : 1));
  return { ...object, metadata: { ...metadata, managedFields } };
}

function options(random: Random, first = ""): string {
  const parts = [
    first,
    random.integer(8) === 0 ? "dryRun=All" : "",
    random.integer(4) === 0 ? `fieldValidation=${random.pick(["Strict", "Ignore", "Warn"])}` : "",
  ].filter((part) => part !== "");
  return parts.length === 0 ? "" : `?${parts.join("&")}`;
}

/** Some members of an object, as a patch has them. */
function part(random: Random, object: JsonObject): JsonObject {
  const { apiVersion: _version, kind: _kind, metadata, ...rest } = object;
  const { name: _name, finalizers: _finalizers, ...kept } = isJsonObject(metadata) ? metadata : {};
  const entries = Object.entries({ metadata: kept, ...rest }).filter(() => random.integer(3) > 0);
  return Object.fromEntries(
    entries.map(([key, value]): [string, Json] => [key, random.integer(12) === 0 ? null : value]),
  );
}

/** Now and then one value somewhere is made wrong. */
function broken(random: Random, object: JsonObject): JsonObject {
  if (random.integer(6) > 0) return object;
  const copy = cloneJson(object);
  let place: MutableJson = copy;
  for (let depth = 0; depth < 12; depth += 1) {
    if (isJsonArray(place) && place.length > 0) place = place[random.integer(place.length)] ?? null;
    else if (isJsonObject(place)) {
      // Sorted: members of an answer come in any order, and both servers are to be told the same.
      const keys: string[] = Object.keys(place)
        .filter((key) => key !== "kind" && key !== "apiVersion" && key !== "name")
        .toSorted();
      if (keys.length === 0) break;
      const key: string = random.pick(keys);
      const inner: MutableJson = place[key] ?? null;
      if (isJsonObject(inner) || isJsonArray(inner)) {
        if (random.integer(6) === 0) {
          place[key] = random.pick<MutableJson>([null, 5, "text", [], {}]);
          break;
        }
        place = inner;
        continue;
      }
      place[key] = random.pick<MutableJson>([
        null,
        -1,
        1.5,
        "",
        "Not Valid!",
        true,
        [],
        {},
        "x".repeat(300),
      ]);
      break;
    } else break;
  }
  return copy;
}
