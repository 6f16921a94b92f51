// What is done to resources that are named.

import assert from "node:assert/strict";
import { test } from "node:test";
import { lines } from "../../services/typed.ts";
import { deployment, type CommandLab } from "./lab.ts";

export function testChanging(lab: CommandLab): void {
  test("history shows what changed, and rollback goes back", async () => {
    await lab.file("web.yaml", deployment(5));
    await lab.keelson("apply -f web.yaml --cluster prod --wait");
    const asked = await lab.keelson("rollback web");
    assert.deepEqual(asked, {
      code: 2,
      out: "",
      said:
        "say where to, with --to-revision or --to-generation: prod/default/deployment/web is at revision 2 and was at 1; " +
        '"keelson history prod/default/deployment/web" shows them\n',
    });
    assert.deepEqual(await lab.keelson("rollback web --to-revision 1 --to-generation 1"), {
      code: 2,
      out: "",
      said: "give --to-revision or --to-generation, not both\n",
    });
    const unknown = await lab.keelson("rollback web --to-revision 9");
    assert.deepEqual(unknown, {
      code: 1,
      out: "",
      said: 'revision 9 is not in the history: "keelson history prod/default/deployment/web" shows what is\n',
    });
    assert.deepEqual(await lab.keelson("rollback web --to-revision 1 --dry-run"), {
      code: 0,
      out: lines(
        "prod/default/deployment/web: one field differs",
        "  spec.replicas: would be changed",
        "    - 5",
        "    + 2",
        "prod/default/deployment/web rolled back to revision 1 (dry run)",
      ),
      said: "",
    });
    assert.equal((await lab.keelson("rollback web --to-revision 9 --dry-run")).said, unknown.said);
    const back = await lab.keelson("rollback deployment/web --to-revision 1 --wait");
    assert.deepEqual(back, {
      code: 0,
      out: lines(
        "prod/default/deployment/web rolled back to revision 1 (generation 3)",
        "prod/default/deployment/web synced",
      ),
      said: "",
    });
    assert.equal(
      (await lab.keelson("rollback web --to-revision 1")).out,
      "prod/default/deployment/web is at revision 1 already\n",
    );
    const { out } = await lab.keelson("history web");
    assert.equal(
      out,
      lines(
        "REVISION   GENERATION   AGE   STATE     ACTOR                     CHANGE",
        "1          3            0s    applied   controller@system.local   spec.replicas: 5 → 2",
        "2          2            0s              controller@system.local   spec.replicas: 2 → 5",
        "1          1            0s              controller@system.local   created",
      ),
    );
    const forth = await lab.keelson("rollback web --to-generation 2");
    assert.equal(
      forth.out,
      "prod/default/deployment/web rolled back to revision 2 (generation 4)\n",
    );
    const two = await lab.keelson("history web --limit 2 -o name");
    assert.equal(two.out, "2\n1\n");
  });

  test("pause, sync and resume do what they say, to one or to many", async () => {
    assert.equal(
      (await lab.keelson("pause deploy/web")).out,
      "prod/default/deployment/web paused\n",
    );
    assert.equal(
      (await lab.keelson("pause deploy/web")).out,
      "prod/default/deployment/web already paused\n",
    );
    await lab.file("web.yaml", deployment(7));
    const stuck = await lab.keelson("apply -f web.yaml --cluster prod --wait");
    assert.deepEqual(
      [stuck.code, stuck.said],
      [
        1,
        "prod/default/deployment/web: out-of-sync: nothing is written to the cluster until it is resumed\n",
      ],
    );
    assert.match((await lab.keelson("get deploy")).out, / out-of-sync,paused {3}/);
    assert.deepEqual(await lab.keelson("sync web"), {
      code: 0,
      out: "prod/default/deployment/web asked to sync\n",
      said: "prod/default/deployment/web is paused: nothing is applied until it is resumed\n",
    });
    await lab.keelson("target pause prod");
    await lab.keelson("resume web");
    const toPaused = "nothing is written to prod until that target is resumed";
    assert.deepEqual(await lab.keelson("sync web --wait"), {
      code: 1,
      out: "prod/default/deployment/web asked to sync\n",
      said: `prod/default/deployment/web: out-of-sync: ${toPaused}\n`,
    });
    await lab.keelson("pause web");
    await lab.keelson("target resume prod");
    assert.equal(
      (await lab.keelson("resume --all")).out,
      lines(
        "prod/default/deployment/web resumed",
        "prod/default/configmap/settings already resumed",
        "prod/-/namespace/demo already resumed",
      ),
    );
    for (const [words, said] of [
      ["pause --all --cluster prdo", "no resource matches: did you mean --cluster prod?"],
      ["diff -l app=nobody", "no resource matches"],
    ] as const) {
      const expected = { code: 0, out: "", said: `${said}\n` };
      assert.deepEqual(await lab.keelson(words), expected, words);
    }
    const synced = await lab.keelson("sync -l app=web --wait");
    assert.equal(
      synced.out,
      lines("prod/default/deployment/web asked to sync", "prod/default/deployment/web synced"),
    );
  });

  test("diff shows what is there and what is wanted, and ends with 1 where they differ", async () => {
    assert.deepEqual(await lab.keelson("diff web"), { code: 0, out: "", said: "no difference\n" });
    await lab.keelson("pause web");
    await lab.file("web.yaml", deployment(9));
    await lab.keelson("apply -f web.yaml --cluster prod");
    const pending = await lab.keelson("diff web");
    assert.equal(pending.code, 1);
    assert.equal(
      pending.out,
      lines(
        "prod/default/deployment/web: one field differs",
        "  spec.replicas: not sent yet",
        "    - 7",
        "    + 9",
      ),
    );
    assert.equal((await lab.keelson("diff --all -o name")).out, "prod/default/deployment/web\n");
    await lab.file("web.yaml", deployment(7));
    await lab.keelson("apply -f web.yaml --cluster prod");

    const deployments = await lab.bed.client.resource(
      { apiVersion: "apps/v1", kind: "Deployment" },
      lab.signal,
    );
    const body = {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { name: "web", namespace: "default", annotations: { "example.com/by": "hand" } },
      spec: { replicas: 1 },
    };
    await deployments.apply(body, { fieldManager: "somebody", force: true }, lab.signal);
    await lab.bed.becomes(1, ({ status }) => status === "drifted" || status === "out-of-sync");
    await lab.bed.becomes(1, ({ current }) => current?.spec?.spec?.replicas === 1);
    const drifted = await lab.keelson("diff web");
    assert.equal(drifted.code, 1);
    assert.equal(
      drifted.out,
      lines(
        "prod/default/deployment/web: one field differs",
        "  spec.replicas: changed in the cluster by somebody",
        "    - 1",
        "    + 7",
      ),
    );
    assert.match(drifted.said, /: other managers set .+ nobody here asked for; --foreign shows\n$/);
    const foreign = await lab.keelson("diff web --foreign");
    assert.match(
      foreign.out,
      /^ {2}metadata\.annotations\["example\.com\/by"\]: set by somebody\n {6}"hand"$/m,
    );
    const asJson = JSON.parse((await lab.keelson("diff web -o json")).out) as {
      resources: { name: string; fields: { path: string }[] }[];
    };
    assert.deepEqual(
      asJson.resources.map(({ name, fields }) => [
        name,
        fields.some(({ path }) => path === "/spec/replicas"),
      ]),
      [["web", true]],
    );
    await lab.keelson("resume web");
    assert.equal((await lab.keelson("sync web --wait")).code, 0);
    assert.equal((await lab.keelson("diff web")).code, 0);
  });
}
