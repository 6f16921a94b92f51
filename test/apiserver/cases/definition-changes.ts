// Definitions that change or go while somebody looks: KB 67, 70 and 72.

import type { JsonObject } from "@keelson/base";

import { until } from "../../oracle/until.ts";
import { casesFor, casesOf, type Script } from "../case.ts";
import type { Lab } from "../lab.ts";
import { definition } from "../objects.ts";
import { createKind } from "./custom-kinds.ts";
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

export const definitionChangeCases = casesOf("definition changes", watches);
