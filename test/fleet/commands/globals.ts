// Global resources.

import assert from "node:assert/strict";
import { test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import { until } from "../../tools/until.ts";
import { lines } from "../../services/typed.ts";
import { settings, type CommandLab } from "./lab.ts";

export function testGlobals(lab: CommandLab): void {
  test("what changes many goes on past copies of global resources, and tells what changes those", async () => {
    const configMap = (name: string) =>
      settings.replace("settings", name).replace(/ {2}(uid|res).*\n/g, "");
    await lab.file("shared.yaml", configMap("shared"));
    await lab.file("alone.yaml", configMap("alone"));
    await lab.keelson("global apply -f shared.yaml --wait");
    await lab.keelson("apply -f alone.yaml --cluster prod --wait");
    const [copy, alone] = ["prod/default/configmap/shared", "prod/default/configmap/alone"];
    const instead = (does: string) =>
      `a copy of a global resource: "keelson global ${does.slice(0, -1)} configmap/shared -n default" ${does} all its copies`;
    for (const [words, out, said] of [
      ["pause cm --all", [`${alone} paused`], `${copy} is ${instead("pauses")}`],
      ["resume cm --all", [`${alone} resumed`], `${copy} is ${instead("resumes")}`],
      [
        "delete cm --all --dry-run",
        [`${alone} deleting (dry run)`],
        `${copy} would be refused: it is ${instead("deletes")}`,
      ],
      [
        "delete cm --all --wait",
        [`${alone} deleting`, `${alone} gone`],
        `${copy} is ${instead("deletes")}`,
      ],
    ] as const) {
      const expected = { code: 1, out: lines(...out), said: `${said}\n` };
      assert.deepEqual(await lab.keelson(words), expected, words);
    }
    assert.equal((await lab.keelson("global delete cm/shared --wait")).code, 0);
  });

  test("global resources go to the targets that are chosen, and are shown with their clusters", async () => {
    assert.deepEqual(await lab.keelson("global get"), {
      code: 0,
      out: "",
      said: 'there are no global resources yet: "keelson global apply -f FILE" makes some\n',
    });
    await lab.file(
      "policy.yaml",
      settings.replace("settings", "policy").replace(/ {2}(uid|res).*\n/g, ""),
    );
    const inProd = "prod/default/configmap/policy";
    assert.deepEqual(await lab.keelson("global apply -f policy.yaml --dry-run"), {
      code: 0,
      out: `${inProd} created (dry run)\n`,
      said: "",
    });
    assert.deepEqual(
      await lab.keelson("global apply -f policy.yaml --targets region=eu --dry-run"),
      {
        code: 0,
        out: "",
        said: "configmap/policy: no target is selected: it is delivered once one is\n",
      },
    );
    const nowhere = await lab.keelson([
      "global",
      "apply",
      "-f",
      "policy.yaml",
      "--targets",
      "region in (eu)",
    ]);
    assert.deepEqual(nowhere, {
      code: 0,
      out: "configmap/policy created\n",
      said: "configmap/policy: no target is selected, it is delivered once one is\n",
    });
    const everywhere = await lab.keelson("global apply -f policy.yaml --all-targets --wait");
    assert.deepEqual(everywhere, {
      code: 0,
      out: lines("configmap/policy configured", "configmap/policy synced"),
      said: "",
    });
    assert.equal(
      (await lab.keelson("global apply -f policy.yaml")).out,
      "configmap/policy unchanged\n",
    );
    const table = lines(
      "NAME               NAMESPACE   STATUS   CLUSTERS   REVISION   AGE",
      "configmap/policy   default     synced   1/1        1          0s",
    );
    assert.equal((await lab.keelson("global get cm")).out, table);
    assert.equal(
      (await lab.keelson("global get cm/policy")).out,
      `${table}\n${lines("CLUSTER   STATUS   SYNCED GENERATION", "prod      synced   1")}`,
    );
    const pausedNote = "it is paused: nothing is applied until it is resumed";
    for (const [words, out, said] of [
      ["pause cm/policy", "configured", `${inProd}: ${pausedNote}\n`],
      ["resume cm/policy", "unchanged", ""],
      ["rollback cm/policy --to-revision 1", "unchanged", ""],
      ["delete cm/policy", "deleted", ""],
      ["delete cm/policy --orphan", "forgotten, its object stays", ""],
    ] as const) {
      const expected = { code: 0, out: `${inProd} ${out} (dry run)\n`, said };
      assert.deepEqual(await lab.keelson(`global ${words} --dry-run`), expected, words);
    }
    assert.equal((await lab.keelson("global get cm")).out, table);
    for (const [words, said] of [
      ["delete cm", "cm is all of them: name one, as cm/NAME"],
      ["pause configmaps", "configmaps is all of them: name one, as configmaps/NAME"],
      ["delete policy", 'no global resource is of a kind "policy": did you mean configmap/policy?'],
      ["get configmpas", 'no global resource is of a kind "configmpas": did you mean configmaps?'],
      [
        `delete ${inProd}`,
        `"${inProd}" is in one cluster: a global resource is named by kind and name, as configmap/policy, and -n`,
      ],
    ] as const) {
      const expected = { code: 2, out: "", said: `${said}\n` };
      assert.deepEqual(await lab.keelson(`global ${words}`), expected, words);
    }
    for (const [words, verb, does] of [
      ["delete cm/policy", "delete", "deletes all its copies"],
      ["delete -f policy.yaml --cluster prod", "delete", "deletes all its copies"],
      [
        "delete cm/policy --orphan",
        "delete --orphan",
        "forgets all its copies, and their objects stay",
      ],
      ["pause cm/policy", "pause", "pauses all its copies"],
      ["resume cm/policy", "resume", "resumes all its copies"],
      [
        "rollback cm/policy --to-revision 1",
        "rollback --to-revision N",
        "rolls back all its copies",
      ],
    ] as const) {
      const command = `keelson global ${verb} configmap/policy -n default`;
      const instead = `a copy of a global resource: "${command}" ${does}`;
      const expected = { code: 1, out: "", said: `${inProd} is ${instead}\n` };
      assert.deepEqual(await lab.keelson(words), expected, words);
    }
    assert.deepEqual(await lab.keelson("apply -f policy.yaml --cluster prod"), {
      code: 1,
      out: "",
      said: 'policy.yaml: configmap/policy is refused, and nothing was written: it is a copy of a global resource: "keelson global apply" changes all its copies\n',
    });

    await lab.file(
      "wrong.yaml",
      settings.replace("settings", "policy").replace(/data: .*/, "data: { a: [] }"),
    );
    const wrong = await lab.keelson("global apply -f wrong.yaml --dry-run");
    assert.deepEqual([wrong.code, wrong.out], [1, ""]);
    assert.match(
      wrong.said,
      /^wrong\.yaml: prod\/default\/configmap\/policy would be refused: .+$/m,
    );
    await lab.file("policy.yaml", settings.replace("settings", "policy").replace("yes", "no"));
    assert.match(
      (await lab.keelson("global apply -f policy.yaml --wait")).out,
      /^configmap\/policy configured\n/,
    );
    assert.equal(
      (await lab.keelson("global history cm/policy")).out,
      lines(
        "REVISION   GENERATION   AGE   STATE    ACTOR                     CHANGE",
        "2          2            0s    wanted   controller@system.local   data.a: yes → no",
        "1          1            0s             controller@system.local   created",
      ),
    );
    assert.equal(
      (await lab.keelson("global rollback cm/policy --to-revision 1")).out,
      "configmap/policy rolled back to revision 1 (generation 3)\n",
    );
    assert.equal(
      (await lab.keelson("global rollback cm/policy --to-revision 9")).said,
      'revision 9 is not in the history: "keelson global history configmap/policy -n default" shows what is\n',
    );
    assert.deepEqual(await lab.keelson("global get cm/nobody"), {
      code: 1,
      out: "",
      said: 'there is no global resource cm/nobody: "keelson global get" shows what there is\n',
    });
    assert.equal(
      (await lab.keelson("global get cm/polcy")).said,
      "there is no global resource cm/polcy: did you mean cm/policy?\n",
    );
    assert.equal(
      (await lab.keelson("global delete cm/policy --wait")).out,
      lines("configmap/policy deleting", "configmap/policy gone"),
    );
    assert.equal(await lab.bed.find("ConfigMap", "policy"), undefined);
  });

  test("a deletion of what is paused is not waited for, and goes on once it is resumed", async () => {
    await lab.file("held.yaml", settings.replace("settings", "held"));
    await lab.keelson("global apply -f held.yaml --wait");
    await lab.keelson("global pause cm/held");
    assert.deepEqual(await lab.keelson("global delete cm/held --wait"), {
      code: 1,
      out: "configmap/held deleting\n",
      said: "configmap/held is paused: nothing is deleted until it is resumed\n",
    });
    assert.equal((await lab.keelson("global resume cm/held")).out, "configmap/held resumed\n");
    const isGone = async () => (await lab.bed.find("ConfigMap", "held")) === undefined;
    await until(isGone, lab.signal);
  });

  test("global get --watch shows what changes, pause and resume reach every copy", async () => {
    const stop = new AbortController();
    let shown = "";
    const watching = lab.keelson("global get cm -w", {
      signal: stop.signal,
      onOutput: (all) => {
        shown = all;
      },
    });
    const row = (...expected: readonly string[]) =>
      until(() => {
        const rows = shown.split("\n").map((line) => line.split(/ +/).slice(0, 5));
        return rows.some((words) => isDeepStrictEqual(words, expected));
      }, lab.signal);
    const name = "configmap/rules";
    await lab.file("rules.yaml", settings.replace("settings", "rules"));
    await lab.keelson("global apply -f rules.yaml");
    await row(name, "default", "synced", "1/1", "1");

    assert.equal((await lab.keelson("global pause cm/rules")).out, `${name} paused\n`);
    assert.equal((await lab.keelson("global pause cm/rules")).out, `${name} already paused\n`);
    await row(name, "default", "synced,paused", "1/1", "1");
    assert.match((await lab.keelson("get cm/rules")).out, / synced,paused {3}/);
    await lab.file("rules.yaml", settings.replace("settings", "rules").replace("yes", "no"));
    await lab.keelson("global apply -f rules.yaml");
    await row(name, "default", "pending,paused", "0/1", "2");
    assert.equal((await lab.keelson("global resume cm/rules")).out, `${name} resumed\n`);
    await row(name, "default", "synced", "1/1", "2");

    // A target that joins, where a resource of that key is in the way, and leaves.
    await lab.keelson("apply -f rules.yaml --cluster inside");
    await lab.bed.rest.ask("POST", "/targets", { cluster_id: "inside", agent: true });
    await row(name, "default", "error", "1/2", "2");
    await lab.bed.rest.ask("DELETE", "/targets/inside?orphan=true");
    await until(() => shown.trimEnd().split("\n").at(-1)?.includes(" 1/1 "), lab.signal);
    await lab.keelson("global delete cm/rules --wait");
    await row(name, "default", "deleted", "0/0", "2");
    stop.abort();
    const end = await watching;
    assert.deepEqual([end.code, end.said], [130, ""]);
    assert.equal(end.out.split("\n").filter((line) => line.startsWith("NAME ")).length, 1);
  });
}
