// Watches: KB 1 to 13.

import { casesFor, casesOf, type Script } from "../case.ts";
import type { Lab } from "../lab.ts";
import { configMap, definition, secret } from "../objects.ts";
import { createKind } from "./custom-kinds.ts";

/** Every change at a secret, and the list's version from before. */
async function changes(lab: Lab): Promise<string> {
  const { version } = await lab.quietly({ path: lab.core("secrets") });
  await lab.create(lab.core("secrets"), secret("a", { labels: { app: "x" } }));
  await lab.mustPatch(lab.core("secrets", "a"), { metadata: { labels: { app: "y" } } });
  await lab.mustPatch(lab.core("secrets", "a"), { metadata: { labels: { app: "x" } } });
  await lab.must({ method: "DELETE", path: lab.core("secrets", "a") });
  return version;
}

const table = { headers: { accept: "application/json;as=Table;v=v1;g=meta.k8s.io" } };
const partial = {
  headers: { accept: "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io" },
};

const scripts: Record<string, Script> = {
  "without arguments everything is added, then changes follow": async (lab) => {
    await lab.create(lab.core("secrets"), secret("a"));
    const watch = await lab.watch(`${lab.core("secrets")}?watch=1`);
    await lab.events(watch, 1);
    await lab.create(lab.core("secrets"), secret("b"));
    await lab.events(watch, 1);
  },
  "from zero": async (lab) => {
    await lab.create(lab.core("secrets"), secret("a"));
    await lab.create(lab.core("secrets"), secret("b"));
    await lab.events(await lab.watch(`${lab.core("secrets")}?watch=true&resourceVersion=0`), 2);
  },
  "from a version only what came after it": async (lab) => {
    const version = await changes(lab);
    const watch = await lab.watch(`${lab.core("secrets")}?watch=1&resourceVersion=${version}`);
    await lab.events(watch, 4);
  },
  "from the version of a write": async (lab) => {
    const { version } = await lab.create(lab.core("secrets"), secret("a"));
    await lab.create(lab.core("secrets"), secret("b"));
    await lab.must({ method: "DELETE", path: lab.core("secrets", "a") });
    await lab.events(
      await lab.watch(`${lab.core("secrets")}?watch=1&resourceVersion=${version}`),
      2,
    );
  },
  "what leaves and enters a label selector": async (lab) => {
    const version = await changes(lab);
    const query = `watch=1&resourceVersion=${version}&labelSelector=app%3Dx`;
    await lab.events(await lab.watch(`${lab.core("secrets")}?${query}`), 4);
  },
  "a selector that nothing matches": async (lab) => {
    const version = await changes(lab);
    await lab.create(lab.core("secrets"), secret("marker", { labels: { app: "z" } }));
    const query = `watch=1&resourceVersion=${version}&labelSelector=app%3Dz`;
    await lab.events(await lab.watch(`${lab.core("secrets")}?${query}`), 1);
  },
  "one object by its name": async (lab) => {
    const version = await changes(lab);
    await lab.create(lab.core("secrets"), secret("b"));
    const query = `watch=1&resourceVersion=${version}&fieldSelector=metadata.name%3Db`;
    await lab.events(await lab.watch(`${lab.core("secrets")}?${query}`), 1);
  },
  "a field of a pod that changes": async (lab) => {
    const { version } = await lab.quietly({ path: lab.core("pods") });
    await lab.create(lab.core("pods"), {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "p" },
      spec: { automountServiceAccountToken: false, containers: [{ name: "c", image: "i" }] },
    });
    await lab.mustPatch(`${lab.core("pods", "p")}/status`, { status: { phase: "Running" } });
    await lab.mustPatch(`${lab.core("pods", "p")}/status`, { status: { phase: "Failed" } });
    const query = `watch=1&resourceVersion=${version}&fieldSelector=status.phase%3DRunning`;
    await lab.events(await lab.watch(`${lab.core("pods")}?${query}`), 2);
  },
  "the old path": async (lab) => {
    await lab.create(lab.core("secrets"), secret("a"));
    await lab.events(await lab.watch(`/api/v1/watch/namespaces/${lab.ns}/secrets`), 1);
    await lab.events(await lab.watch(`/api/v1/watch/namespaces/${lab.ns}/secrets/a`), 1);
    await lab.events(
      await lab.watch(`/apis/apps/v1/watch/namespaces/${lab.ns}/deployments?timeoutSeconds=1`),
      0,
    );
  },
  "a named GET ignores it": async (lab) => {
    await lab.create(lab.core("secrets"), secret("a"));
    await lab.get(`${lab.core("secrets", "a")}?watch=1`);
  },
  "ends after its time": async (lab) => {
    const watch = await lab.watch(`${lab.core("secrets")}?watch=1&timeoutSeconds=1`);
    await lab.rest(watch);
  },
  "ends after its time with a bookmark": async (lab) => {
    await lab.create(lab.core("secrets"), secret("a"));
    const watch = await lab.watch(
      `${lab.core("secrets")}?watch=1&allowWatchBookmarks=true&timeoutSeconds=5`,
    );
    await lab.rest(watch);
    lab.note("a bookmark came", watch.sawBookmark);
  },
  "the other timeout is ignored": async (lab) => {
    await lab.rest(await lab.watch(`${lab.core("secrets")}?watch=1&timeout=1ms&timeoutSeconds=1`));
  },
  "without bookmarks there is none": async (lab) => {
    await lab.create(lab.core("secrets"), secret("a"));
    const watch = await lab.watch(
      `${lab.core("secrets")}?watch=1&resourceVersion=0&timeoutSeconds=5`,
    );
    await lab.rest(watch);
    lab.note("a bookmark came", watch.sawBookmark);
  },
  "from a future version nothing comes": async (lab) => {
    const path = `${lab.core("secrets")}?watch=1&resourceVersion=99999999999&timeoutSeconds=1`;
    await lab.rest(await lab.watch(path));
  },
  "rows in a table, columns only once": async (lab) => {
    const version = await changes(lab);
    const path = `${lab.core("secrets")}?watch=1&resourceVersion=${version}`;
    await lab.events(await lab.watch(path, table), 4);
    await lab.events(await lab.watch(`${path}&includeObject=None`, table), 2);
    await lab.events(await lab.watch(`${path}&includeObject=Object`, table), 2);
  },
  "metadata only": async (lab) => {
    const version = await changes(lab);
    await lab.events(
      await lab.watch(`${lab.core("secrets")}?watch=1&resourceVersion=${version}`, partial),
      4,
    );
  },
  "a table in YAML is refused": async (lab) => {
    const extra = { headers: { accept: "application/yaml;as=Table;v=v1;g=meta.k8s.io" } };
    await lab.get(`${lab.core("secrets")}?watch=1&timeoutSeconds=1`, extra);
  },
  "all namespaces": async (lab) => {
    await lab.create(lab.core("secrets"), secret("a", { labels: { only: lab.id } }));
    await lab.events(await lab.watch(`/api/v1/secrets?watch=1&labelSelector=only%3D${lab.id}`), 1);
  },
  "a namespace with objects while it goes": async (lab) => {
    const name = `gone-${lab.id}`;
    await lab.create("/api/v1/namespaces", {
      apiVersion: "v1",
      kind: "Namespace",
      metadata: { name },
    });
    await lab.create(`/api/v1/namespaces/${name}/secrets`, secret("a"));
    const watch = await lab.watch(`/api/v1/namespaces/${name}/secrets?watch=1`);
    await lab.events(watch, 1);
    await lab.must({ method: "DELETE", path: `/api/v1/namespaces/${name}` });
    await lab.events(watch, 1);
  },
  "thirty quick updates are thirty changes": async (lab) => {
    const { version } = await lab.create(lab.core("secrets"), secret("a"));
    for (let turn = 1; turn <= 30; turn += 1) {
      await lab.mustPatch(lab.core("secrets", "a"), {
        metadata: { labels: { turn: String(turn) } },
      });
    }
    await lab.events(
      await lab.watch(`${lab.core("secrets")}?watch=1&resourceVersion=${version}`),
      30,
    );
  },
  "a write that changes nothing is no change": async (lab) => {
    const { version, body } = await lab.create(lab.core("secrets"), secret("a"));
    await lab.put(lab.core("secrets", "a"), body);
    await lab.create(lab.core("secrets"), secret("marker"));
    await lab.events(
      await lab.watch(`${lab.core("secrets")}?watch=1&resourceVersion=${version}`),
      1,
    );
  },
  "dry runs are no changes": async (lab) => {
    const { version } = await lab.create(lab.core("secrets"), secret("a"));
    await lab.must({ method: "DELETE", path: `${lab.core("secrets", "a")}?dryRun=All` });
    await lab.must({
      method: "POST",
      path: `${lab.core("secrets")}?dryRun=All`,
      body: secret("b"),
    });
    await lab.create(lab.core("secrets"), secret("marker"));
    await lab.events(
      await lab.watch(`${lab.core("secrets")}?watch=1&resourceVersion=${version}`),
      1,
    );
  },
  "a finalizer: deletion is MODIFIED, its end DELETED": async (lab) => {
    const { version } = await lab.create(
      lab.core("secrets"),
      secret("a", { finalizers: ["example.com/f"] }),
    );
    await lab.must({ method: "DELETE", path: lab.core("secrets", "a") });
    await lab.mustPatch(lab.core("secrets", "a"), { metadata: { finalizers: null } });
    await lab.events(
      await lab.watch(`${lab.core("secrets")}?watch=1&resourceVersion=${version}`),
      2,
    );
  },
  "custom resources across namespaces": async (lab) => {
    await createKind(lab, definition({ group: `w-${lab.id}.example.com`, kind: "Thing" }));
    const at = `/apis/w-${lab.id}.example.com/v1`;
    const { version } = await lab.quietly({ path: `${at}/things` });
    await lab.create(`${at}/namespaces/${lab.ns}/things`, {
      apiVersion: `w-${lab.id}.example.com/v1`,
      kind: "Thing",
      metadata: { name: "one" },
      spec: { a: 1 },
    });
    await lab.events(await lab.watch(`${at}/things?watch=1&resourceVersion=${version}`), 1);
    await lab.events(await lab.watch(`${at}/namespaces/${lab.ns}/things?watch=1`), 1);
  },
  "core and new events are one": async (lab) => {
    const { version } = await lab.quietly({ path: lab.core("events") });
    await lab.create(lab.core("events"), {
      apiVersion: "v1",
      kind: "Event",
      metadata: { name: "e" },
      involvedObject: { kind: "Pod", namespace: lab.ns, name: "p" },
      reason: "R",
      message: "m",
      type: "Normal",
    });
    await lab.events(
      await lab.watch(
        `${lab.group("events.k8s.io/v1", "events")}?watch=1&resourceVersion=${version}`,
      ),
      1,
    );
    await lab.events(
      await lab.watch(`${lab.core("events")}?watch=1&resourceVersion=${version}`),
      1,
    );
  },
  ...casesFor(
    {
      abc: "abc",
      "-5": "-5",
      "+1": "%2B1",
      "1.5": "1.5",
      "0x1": "0x1",
      "too long": "99999999999999999999",
    },
    "a version that is none, %",
    async (lab, version) => {
      await lab.get(`${lab.core("secrets")}?watch=1&resourceVersion=${version}&timeoutSeconds=1`);
      await lab.get(`${lab.core("secrets")}?resourceVersion=${version}`);
    },
  ),
};

const lists: Record<string, Script> = {
  "an empty collection ends at once": async (lab) => {
    const watch = await lab.watch(
      `${lab.core("secrets")}?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true`,
    );
    await lab.events(watch, 1);
    await lab.create(lab.core("secrets"), secret("a"));
    await lab.events(watch, 1);
  },
  "three objects and the mark": async (lab) => {
    for (const name of ["c", "a", "b"]) await lab.create(lab.core("secrets"), secret(name));
    const watch = await lab.watch(
      `${lab.core("secrets")}?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true`,
    );
    await lab.events(watch, 4);
    await lab.must({ method: "DELETE", path: lab.core("secrets", "b") });
    await lab.events(watch, 1);
  },
  "without bookmarks there is no mark": async (lab) => {
    await lab.create(lab.core("secrets"), secret("a"));
    const watch = await lab.watch(
      `${lab.core("secrets")}?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan`,
    );
    await lab.events(watch, 1);
    await lab.create(lab.core("secrets"), secret("marker"));
    await lab.events(watch, 1);
  },
  "without initial events": async (lab) => {
    await lab.create(lab.core("secrets"), secret("a"));
    const watch = await lab.watch(
      `${lab.core("secrets")}?watch=1&sendInitialEvents=false&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&timeoutSeconds=1`,
    );
    await lab.rest(watch);
  },
  "with a selector": async (lab) => {
    await lab.create(lab.core("secrets"), secret("a", { labels: { app: "x" } }));
    await lab.create(lab.core("secrets"), secret("b"));
    await lab.events(
      await lab.watch(
        `${lab.core("secrets")}?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&labelSelector=app`,
      ),
      2,
    );
  },
  "as a table": async (lab) => {
    await lab.create(lab.core("secrets"), secret("a"));
    await lab.events(
      await lab.watch(
        `${lab.core("secrets")}?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true`,
        table,
      ),
      2,
    );
  },
  "as metadata": async (lab) => {
    await lab.create(lab.core("secrets"), secret("a"));
    await lab.events(
      await lab.watch(
        `${lab.core("secrets")}?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true`,
        partial,
      ),
      2,
    );
  },
  "from a version of the past": async (lab) => {
    const { version } = await lab.create(lab.core("secrets"), secret("a"));
    await lab.create(lab.core("secrets"), secret("b"));
    // Else a cache that has no more than what is asked for may put its mark before the second.
    await lab.untilCached(lab.core("secrets"));
    await lab.events(
      await lab.watch(
        `${lab.core("secrets")}?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&resourceVersion=${version}`,
      ),
      3,
    );
  },
  "from a future version": async (lab) => {
    const watch = await lab.watch(
      `${lab.core("secrets")}?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&resourceVersion=9999999999`,
    );
    await lab.events(watch, 1);
  },
  "a plain watch with bookmarks has the mark too": async (lab) => {
    await lab.create(lab.core("secrets"), secret("a"));
    await lab.events(await lab.watch(`${lab.core("secrets")}?watch=1&allowWatchBookmarks=true`), 2);
    await lab.events(
      await lab.watch(`${lab.core("secrets")}?watch=1&allowWatchBookmarks=true&resourceVersion=0`),
      2,
    );
  },
  ...casesFor(
    {
      "no match": "sendInitialEvents=true",
      "exact match": "sendInitialEvents=true&resourceVersionMatch=Exact",
      "unknown match": "sendInitialEvents=true&resourceVersionMatch=Foo",
      "match without it": "resourceVersionMatch=NotOlderThan",
      "match and version without it": "resourceVersionMatch=NotOlderThan&resourceVersion=1",
      "no boolean": "sendInitialEvents=perhaps&resourceVersionMatch=NotOlderThan",
      "no boolean for bookmarks": "allowWatchBookmarks=perhaps",
      "a negative time": "timeoutSeconds=-1",
      "no number for the time": "timeoutSeconds=abc",
      "a limit": "limit=1",
      "a token": "continue=abc",
    },
    "options of a watch: %",
    async (lab, query) => {
      await lab.create(lab.core("configmaps"), configMap("a"));
      // Long enough for any machine to send the first event, or the refusal.
      const path = `${lab.core("configmaps")}?watch=1&timeoutSeconds=150&${query}`;
      await lab.events(await lab.watch(path), 1);
    },
  ),
  "options of a list: initial events": async (lab) => {
    await lab.get(`${lab.core("secrets")}?sendInitialEvents=true`);
    await lab.get(
      `${lab.core("secrets")}?sendInitialEvents=true&resourceVersionMatch=NotOlderThan`,
    );
  },
};

export const watchCases = [...casesOf("watches", scripts), ...casesOf("watch lists", lists)];
