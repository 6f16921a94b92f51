// How commands end: with reasons, by deletions, before nobody.

import assert from "node:assert/strict";
import { once } from "node:events";
import { join } from "node:path";
import { test } from "node:test";
import { runKeelson, spawnKeelson } from "../../e2e/run-keelson.ts";
import { lines, typing } from "../../services/typed.ts";
import { until } from "../../tools/until.ts";
import { startFleetRest } from "../fleet-rest.ts";
import { settings, type CommandLab } from "./lab.ts";

export function testEnding(lab: CommandLab): void {
  test("waiting ends with the reason: refused by the cluster, nobody's cluster, out of time, interrupted", async () => {
    await lab.file(
      "bad.yaml",
      "apiVersion: apps/v1\nkind: Deployment\nmetadata: { name: bad }\nspec: { replicas: -1 }\n",
    );
    const bad = await lab.keelson("apply -f bad.yaml --cluster prod --wait");
    assert.equal(bad.code, 1);
    assert.match(
      bad.said,
      /^prod\/default\/deployment\/bad: error: invalid: .*spec\.replicas: Invalid value: -1/,
    );
    const shown = await lab.keelson("get deployment/bad");
    assert.match(shown.out, /^deployment\/bad {3}prod {6}default {5}error {4}Unknown /m);
    assert.match(shown.said, /^prod\/default\/deployment\/bad: invalid: .*spec\.replicas/);
    await lab.keelson("delete deployment bad --wait");

    const lost = await lab.keelson("apply -f web.yaml --cluster nowhere");
    assert.deepEqual(lost, {
      code: 0,
      out: "nowhere/default/deployment/web created\n",
      said: 'no target is registered as nowhere: nothing is delivered until "keelson target create nowhere"\n',
    });
    const misspelt = await lab.keelson("apply -f web.yaml --cluster prdo");
    assert.equal(
      misspelt.said,
      'no target is registered as prdo (did you mean prod?): nothing is delivered until "keelson target create prdo"\n',
    );
    await lab.keelson("delete deployment/web --cluster prdo --orphan");
    assert.equal(
      (await lab.keelson("get deployment/web --cluster prdo")).said,
      "there is no resource deployment/web in cluster prdo: did you mean --cluster prod?\n",
    );
    const waited = await lab.keelson("apply -f web.yaml --cluster nowhere --wait");
    assert.deepEqual(
      [waited.code, waited.said],
      [1, "nowhere/default/deployment/web: pending: no target is registered as nowhere\n"],
    );

    const two = await lab.keelson("pause deployment/web");
    assert.deepEqual(two, {
      code: 2,
      out: "",
      said:
        "deployment/web is 2 resources (prod/default/deployment/web, nowhere/default/deployment/web): " +
        "name one in full, narrow it with --cluster and -n, or say --all\n",
    });
    assert.match(
      (await lab.keelson("history deployment/web")).said,
      /: name one in full, or narrow it with --cluster and -n\n$/,
    );

    await lab.worker.stop();
    await lab.file("late.yaml", settings.replace("settings", "late"));
    const late = await lab.keelson("apply -f late.yaml --cluster prod --wait --timeout 100ms");
    assert.equal(late.code, 1);
    assert.match(
      late.said,
      /^prod\/default\/configmap\/late: pending still, after 0\.1 s: no reason is known$/m,
    );
    const stop = new AbortController();
    const interrupted = await lab.keelson("apply -f late.yaml --cluster prod --wait", {
      signal: stop.signal,
      onOutput: () => stop.abort(new Error("Ctrl-C")),
    });
    assert.equal(interrupted.code, 130);
    lab.worker = lab.bed.startWorker();
  });

  test("delete takes names and manifests, waits, and may leave the object", async () => {
    const gone = await lab.keelson("delete nowhere/default/deployment/web --wait");
    assert.equal(
      gone.out,
      lines("nowhere/default/deployment/web deleting", "nowhere/default/deployment/web gone"),
    );
    assert.deepEqual(await lab.keelson("delete cm settings --orphan"), {
      code: 0,
      out: "prod/default/configmap/settings forgotten, its object stays\n",
      said: "",
    });
    assert.ok(await lab.bed.find("ConfigMap", "settings"));
    assert.deepEqual(await lab.keelson("delete -f all --cluster prod"), {
      code: 1,
      out: "",
      said: "there is no resource prod/default/configmap/settings: nothing was deleted; --ignore-not-found deletes the others\n",
    });
    const rest = await lab.keelson("delete -f all --cluster prod --ignore-not-found --wait");
    assert.equal(rest.code, 0, rest.said);
    assert.equal(await lab.bed.find("Deployment", "web", "apps/v1"), undefined);
    await lab.keelson("delete cm/late --wait");
    assert.deepEqual(await lab.keelson("delete deployment/web -f all --cluster prod"), {
      code: 2,
      out: "",
      said: "name resources, or give manifests with -f, but not both\n",
    });
    assert.deepEqual(await lab.keelson("get"), {
      code: 0,
      out: "",
      said: 'there are no resources yet: "keelson apply -f FILE --cluster NAME" makes some\n',
    });
  });
}

export function testNamesakes(lab: CommandLab): void {
  test("a deletion of what is paused is not waited for, and goes on once it is resumed", async () => {
    const manifest = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "held" } };
    await lab.file("held.json", JSON.stringify(manifest));
    await lab.keelson("apply -f held.json --cluster prod --wait");
    await lab.keelson("pause cm/held");
    assert.deepEqual(await lab.keelson("delete cm/held --wait"), {
      code: 1,
      out: "prod/default/configmap/held deleting\n",
      said: "prod/default/configmap/held: deleting: nothing is written to the cluster until it is resumed\n",
    });
    await lab.keelson("resume cm/held");
    await until(async () => (await lab.bed.find("ConfigMap", "held")) === undefined, lab.signal);
    assert.deepEqual(await lab.keelson("delete cm/held --ignore-not-found"), {
      code: 2,
      out: "",
      said: "--ignore-not-found goes with -f\n",
    });
  });

  test("of two kinds of one name a manifest deletes its own, and history tells who made it", async () => {
    const service = (apiVersion: string) =>
      `apiVersion: ${apiVersion}\nkind: Service\nmetadata: { name: two, namespace: default }\nspec: { ports: [{ port: 80 }] }\n`;
    await lab.file("core.yaml", service("v1"));
    await lab.file("other.yaml", service("serving.example.com/v1"));
    await lab.keelson("apply -f core.yaml --cluster prod");
    await lab.keelson("apply -f other.yaml --cluster prod --as ann@example.com");
    const other = "prod/default/service.serving.example.com/two";
    assert.match((await lab.keelson(`history ${other}`)).out, / ann@example\.com {3}created$/m);
    assert.equal(
      (await lab.keelson("delete -f other.yaml --cluster prod --wait")).out,
      lines(`${other} deleting`, `${other} gone`),
    );
    assert.equal((await lab.keelson("get -o name")).out, lines("prod/default/service/two"));
    await lab.keelson("delete -f core.yaml --cluster prod --wait");
  });
}

export function testRefusals(lab: CommandLab): void {
  test("who may not, and who asks nobody, is told what to do", async () => {
    await using guarded = await startFleetRest({
      tokens: { reading: { role: "reader" } },
    });
    const asked = typing(await guarded.listen(), lab.folder);
    const said = async (words: string, environment = {}) => {
      const typed = await asked(words, { environment });
      return `${typed.code} ${typed.said.trimEnd()}`;
    };
    assert.match(await said("get"), /^1 .*: give a token with --token or KEELSON_TOKEN$/);
    assert.match(
      await said("get --token wrong"),
      /^1 .*: the server does not take this token, see --token and KEELSON_TOKEN$/,
    );
    assert.equal((await asked("get", { environment: { KEELSON_TOKEN: "reading" } })).code, 0);
    assert.match(
      await said("apply -f web.yaml --cluster prod", { KEELSON_TOKEN: "reading" }),
      /^1 .*: a token with more rights is needed$/,
    );
    assert.equal(
      await said("get", { KEELSON_SERVER: "", KEELSON_DATA_DIR: join(lab.folder, "data") }),
      `1 no server is running on ${join(lab.folder, "data")}: start one with "keelson up", or name one with --server or KEELSON_SERVER`,
    );
    assert.match(
      await said("get --server http://127.0.0.1:9"),
      /^1 http:\/\/127\.0\.0\.1:9 cannot be reached \(.+\): is it running there, and is --server right\?$/,
    );
    assert.equal(
      await said("get --server here"),
      '2 --server "here" is no URL of a server: write it like http://127.0.0.1:8080',
    );
  });
}

/** The program itself: its exit codes, its signals, its pipes. */
export function testProcess(lab: CommandLab): void {
  test("as a process it ends with its code, at Ctrl-C with 130, and quietly where nobody reads on", async (t) => {
    await lab.file("one.yaml", settings.replace("settings", "one"));
    const options = { cwd: lab.folder, environment: { KEELSON_SERVER: lab.url } };
    const run = async (...words: string[]) => {
      const { code, stdout, stderr } = await runKeelson(words, options, t.signal);
      return { code, out: stdout, said: stderr };
    };
    const [applied, misspelt, missing] = await Promise.all([
      run("apply", "-f", "one.yaml", "--cluster", "prod", "--wait"),
      run("gett"),
      run("get", "cm/nobody"),
    ]);
    assert.equal(
      applied.out,
      lines("prod/default/configmap/one created", "prod/default/configmap/one synced"),
    );
    assert.equal(applied.code, 0);
    assert.deepEqual(misspelt, {
      code: 2,
      out: "",
      said: "keelson: unknown command 'gett': did you mean get?\n",
    });
    assert.deepEqual(missing, {
      code: 1,
      out: "",
      said: 'keelson: there is no resource cm/nobody: "keelson get" shows what there is\n',
    });

    const { signal } = t;
    const watching = spawnKeelson(["get", "cm", "-w"], options);
    t.after(() => watching.kill("SIGKILL"));
    const [first] = (await once(watching.stdout, "data", { signal })) as [Buffer];
    assert.match(first.toString(), /^NAME .*\nconfigmap\/one /);
    const closed = once(watching, "close", { signal });
    watching.kill("SIGINT");
    const [code] = (await closed) as [number | null];
    assert.equal(code, 130);

    const unread = spawnKeelson(["get", "cm", "-w"], options);
    t.after(() => unread.kill("SIGKILL"));
    await once(unread.stdout, "data", { signal });
    unread.stdout.destroy();
    await lab.file("one.yaml", settings.replace("settings", "one").replace("yes", "no"));
    await lab.keelson("apply -f one.yaml --cluster prod");
    const [quiet] = (await once(unread, "close", { signal })) as [number | null];
    assert.equal(quiet, 0);
    await lab.keelson("delete cm/one --wait");
  });
}
