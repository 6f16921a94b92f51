import assert from "node:assert/strict";
import { suite, test } from "node:test";

import { failures } from "@keelson/kube";

import type { AdmissionPlugin } from "../admission/admission.ts";
import { Api } from "../testing/api.ts";
import { configMap, core } from "../testing/objects.ts";
import { startTestServer } from "../testing/test-server.ts";

/** Refuses the deletion of ConfigMaps, and of the first after that of the others. */
function refusesLate(first: string, others: number): AdmissionPlugin {
  const refused = Promise.withResolvers<void>();
  let left = others;
  return {
    name: "Late",
    handles: ({ plural }, operation) => plural === "configmaps" && operation === "DELETE",
    validate: async ({ name }) => {
      if (name === first) {
        await refused.promise;
      } else {
        left -= 1;
        if (left === 0) refused.resolve();
      }
      throw failures.forbidden({ group: "", resource: "configmaps" }, name, "not today");
    },
  };
}

suite("deletions of a collection", () => {
  test("KB 38 name the first that is refused in the list's order, whichever was refused first", async (t) => {
    await using server = await startTestServer({ admission: [refusesLate("a", 2)] }, t.signal);
    const api = new Api(server.url, t.signal);
    const maps = core("default", "configmaps");
    const labels = { team: "x" };
    for (const name of ["a", "b", "c"]) await api.create(maps, configMap(name, { labels }));
    const refused = await api.send("DELETE", `${maps}?labelSelector=team%3Dx`);
    assert.deepEqual(
      [refused.code, refused.object["message"]],
      [403, 'configmaps "a" is forbidden: not today'],
    );
  });
});
