// Definitions that change or go while somebody looks: KB 60, 67, 70 and 72.

import type { Json, JsonObject } from "@keelson/base";

import { until } from "../../tools/until.ts";
import { casesFor, casesOf, type Script } from "../case.ts";
import type { Answer } from "../answer.ts";
import type { Lab } from "../lab.ts";
import { definition } from "../objects.ts";
import { createKind, served } from "./custom-kinds.ts";
import { groupOf, object, path } from "./things.ts";

const table = { headers: { accept: "application/json;as=Table;v=v1;g=meta.k8s.io" } };

const open = { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } };
const closed = {
  openAPIV3Schema: {
    type: "object",
    properties: { spec: { type: "object", properties: { n: { type: "integer" } } } },
  },
};
const column = (name: string): JsonObject => ({ name, type: "integer", jsonPath: ".spec.n" });

/** Things in two versions, of which these things are said besides. */
function things(lab: Lab, v1: JsonObject = {}, v2: JsonObject = {}): JsonObject {
  const versions = [
    { name: "v1", served: true, storage: true, schema: open, ...v1 },
    { name: "v2", served: true, storage: false, schema: open, ...v2 },
  ];
  return definition({ group: groupOf(lab), kind: "Thing", spec: { versions } });
}

const definitionPath = (lab: Lab): string => `${path}/things.${groupOf(lab)}`;
const at = (lab: Lab, version = "v1"): string => lab.group(`${groupOf(lab)}/${version}`, "things");

/** Says anew what a definition is. */
async function change(lab: Lab, crd: JsonObject): Promise<void> {
  await lab.mustPatch(definitionPath(lab), { spec: crd["spec"] ?? null });
}

async function remove(lab: Lab): Promise<void> {
  await lab.must({ method: "DELETE", path: definitionPath(lab) });
}

/** Waits until a definition is gone, with all that it served. */
async function gone(lab: Lab): Promise<void> {
  for (const one of [definitionPath(lab), at(lab)]) {
    const isGone = async () => (await lab.quietly({ path: one })).status === 404;
    await until(isGone, lab.signal, `${one} to go`);
  }
}

const watches: Record<string, Script> = {
  ...casesFor<(lab: Lab) => Promise<void>>(
    {
      columns: (lab) => change(lab, things(lab, { additionalPrinterColumns: [column("N")] })),
      "columns of another version": (lab) =>
        change(lab, things(lab, {}, { additionalPrinterColumns: [column("N")] })),
      "the schema": (lab) => change(lab, things(lab, { schema: closed })),
      "the names": async (lab) => {
        await lab.mustPatch(definitionPath(lab), { spec: { names: { shortNames: ["th"] } } });
      },
      "what is served": (lab) => change(lab, things(lab, { served: false })),
      "what is served of another version": (lab) => change(lab, things(lab, {}, { served: false })),
    },
    "a watch ends with a change of %",
    async (lab, act) => {
      await createKind(lab, things(lab));
      await lab.create(at(lab), object(lab, "a", { spec: { n: 1, other: 2 } }));
      const plain = await lab.watch(`${at(lab)}?watch=1`);
      const rows = await lab.watch(`${at(lab)}?watch=1`, table);
      const marked = await lab.watch(`${at(lab)}?watch=1&allowWatchBookmarks=true`);
      for (const watch of [plain, rows]) await lab.events(watch, 1);
      await lab.events(marked, 2);
      await act(lab);
      for (const watch of [plain, rows, marked]) await lab.rest(watch);
    },
  ),
  "a watch goes on while nothing is said of what is served": async (lab) => {
    await createKind(lab, things(lab));
    const watch = await lab.watch(`${at(lab)}?watch=1`);
    await lab.mustPatch(definitionPath(lab), { metadata: { labels: { a: "b" } } });
    await lab.create(at(lab), object(lab, "a"));
    await lab.events(watch, 1);
  },
  "a watch ends with its definition": async (lab) => {
    await createKind(lab, things(lab));
    await lab.create(at(lab), object(lab, "a"));
    const watch = await lab.watch(`${at(lab)}?watch=1`);
    const everywhere = await lab.watch(`/apis/${groupOf(lab)}/v2/things?watch=1`);
    await lab.events(watch, 1);
    await remove(lab);
    await lab.rest(watch);
    await lab.rest(everywhere);
  },
  "a watch goes on while an object holds its definition": async (lab) => {
    await createKind(lab, things(lab));
    const finalizers = ["example.com/a"];
    await lab.create(at(lab), { ...object(lab, "held"), metadata: { name: "held", finalizers } });
    const watch = await lab.watch(`${at(lab)}?watch=1`);
    await lab.events(watch, 1);
    await remove(lab);
    await lab.events(watch, 1);
    await lab.mustPatch(`${at(lab)}/held`, { metadata: { finalizers: null } });
    await lab.rest(watch);
  },
  "a watch does not tell of a kind that came later by the same name": async (lab) => {
    await createKind(lab, things(lab));
    await lab.create(at(lab), object(lab, "before"));
    const watch = await lab.watch(`${at(lab)}?watch=1`);
    await lab.events(watch, 1);
    await remove(lab);
    await gone(lab);
    await createKind(lab, things(lab));
    await lab.create(at(lab), object(lab, "after"));
    await lab.rest(watch);
    await lab.events(await lab.watch(`${at(lab)}?watch=1`), 1);
  },
};

const shapes: Record<string, Script> = {
  "columns that change are those of the next answer": async (lab) => {
    await createKind(lab, things(lab, { additionalPrinterColumns: [column("Old")] }));
    await lab.create(at(lab), object(lab, "a", { spec: { n: 7 } }));
    await lab.get(at(lab), table);
    await change(lab, things(lab, { additionalPrinterColumns: [column("New"), column("Two")] }));
    const shows = (isNew: boolean) => (answer: Answer) =>
      answer.isAccepted && answer.text.includes('"New"') === isNew;
    await lab.until(`${at(lab)}/a`, shows(true), table);
    await lab.until(at(lab), shows(true), table);
    await lab.events(await lab.watch(`${at(lab)}?watch=1`, table), 1);
    await change(lab, things(lab));
    await lab.until(at(lab), shows(false), table);
  },
  "a version is there for as long as it is served": async (lab) => {
    await createKind(lab, things(lab));
    await lab.create(at(lab), object(lab, "a", { spec: { n: 7 } }));
    await lab.until(`/apis/${groupOf(lab)}`, ({ text }) =>
      ['"v1"', '"v2"'].every((version) => text.includes(version)),
    );
    await documents(lab, { v1: "served", v2: "served" });
    for (const isServed of [false, true]) {
      await change(lab, things(lab, {}, { served: isServed }));
      await lab.until(`/apis/${groupOf(lab)}`, ({ text }) => text.includes('"v2"') === isServed);
      if (isServed) await served(lab, things(lab));
      await lab.until(`${at(lab, "v2")}/a`, ({ status }) => (status === 200) === isServed);
      await lab.until(`/apis/${groupOf(lab)}/v2`, ({ status }) => (status === 200) === isServed);
      await lab.until(`${at(lab)}/a`, ({ isAccepted }) => isAccepted);
      await documents(lab, { v1: "served", v2: isServed ? "served" : "not served" });
    }
    await remove(lab);
    await gone(lab);
    await documents(lab, { v1: "gone", v2: "gone" });
  },
};

/** What there is to be of a version. */
type Wanted = "served" | "not served" | "gone";

/** Waits for what OpenAPI has of each version, and records it. */
async function documents(lab: Lab, wanted: Readonly<Record<string, Wanted>>): Promise<void> {
  const group = groupOf(lab);
  const found = async (): Promise<JsonObject> => {
    const index = membersOf(await lab.quietly({ path: "/openapi/v3" }));
    const old = membersOf(await lab.quietly({ path: "/openapi/v2" }));
    const versions = Object.entries(wanted).map(async ([version, is]): Promise<[string, Json]> => {
      const path = `/apis/${group}/${version}`;
      const of: JsonObject = {
        definition: old.definitions.includes(`com.example.d-${lab.id}.${version}.Thing`),
        paths: old.paths.filter((one) => one.startsWith(`${path}/`)),
      };
      // The real server does not forget it before the definition goes; ours does, see docs/differences.md.
      if (is === "not served") return [version, of];
      const { status } = await lab.quietly({ path: `/openapi/v3${path}` });
      const isIndexed = index.paths.includes(path.slice(1));
      return [version, { ...of, "in the index": isIndexed, document: status === 200 }];
    });
    return Object.fromEntries(await Promise.all(versions));
  };
  const isWanted = (facts: JsonObject): boolean =>
    Object.entries(wanted).every(([version, is]) => {
      const { paths: _, ...booleans } = (facts[version] ?? {}) as JsonObject;
      return Object.values(booleans).every((isThere) => isThere === (is === "served"));
    });
  const facts = await until(
    async () => {
      const now = await found();
      return isWanted(now) && now;
    },
    lab.signal,
    "OpenAPI to follow",
  );
  lab.note("OpenAPI", facts);
}

interface Members {
  readonly paths: readonly string[];
  readonly definitions: readonly string[];
}

/** The real server forgets to say that its index is JSON. */
function membersOf({ text }: Answer): Members {
  const body = JSON.parse(text) as { readonly paths?: object; readonly definitions?: object };
  return {
    paths: Object.keys(body.paths ?? {}).toSorted(),
    definitions: Object.keys(body.definitions ?? {}),
  };
}

export const definitionChangeCases = casesOf("definition changes", { ...watches, ...shapes });
