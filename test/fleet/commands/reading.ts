// What is shown of resources.

import assert from "node:assert/strict";
import { test } from "node:test";
import { until } from "../../tools/until.ts";
import { lines, typing } from "../../services/typed.ts";
import { synced } from "../bed.ts";
import { HttpProxy } from "../../tools/http-proxy.ts";
import { settings, type CommandLab } from "./lab.ts";

export function testReading(lab: CommandLab): void {
  test("get shows all, kinds, names and labels", async () => {
    await lab.bed.becomes(1, ({ health }) => health === "Healthy");
    await lab.bed.becomes(3, synced);
    const all = await lab.keelson("get");
    assert.equal(
      all.out,
      lines(
        "NAME                 CLUSTER   NAMESPACE   STATUS   HEALTH    REVISION   AGE",
        "deployment/web       prod      default     synced   Healthy   1          0s",
        "configmap/settings   prod      default     synced   Healthy   1          0s",
        "namespace/demo       prod      -           synced   Healthy   2          0s",
      ),
    );
    const web = lines(
      "NAME             CLUSTER   NAMESPACE   STATUS   HEALTH    REVISION   AGE",
      "deployment/web   prod      default     synced   Healthy   1          0s",
    );
    for (const words of [
      "get deployments",
      "get deploy -n default",
      "get Deployment --cluster prod",
      "get deployment/web",
      "get deployments.apps web",
      "get prod/default/deployment/web",
      "get 1",
      "get -l app=web",
      "resource get deploy --status synced",
    ]) {
      assert.deepEqual(await lab.keelson(words), { code: 0, out: web, said: "" }, words);
    }
    assert.equal(
      (await lab.keelson("get deploy,ns -o name")).out,
      lines("prod/default/deployment/web", "prod/-/namespace/demo"),
    );
    const wide = await lab.keelson("get deploy -o wide");
    assert.equal(
      wide.out,
      lines(
        "NAME             CLUSTER   NAMESPACE   STATUS   HEALTH    REVISION   AGE   ID   GENERATION   API VERSION   MESSAGE",
        "deployment/web   prod      default     synced   Healthy   1          0s    1    1            apps/v1",
      ),
    );
    const whole = JSON.parse((await lab.keelson("get deployment/web -o json")).out) as Record<
      string,
      unknown
    >;
    assert.deepEqual(
      [whole["status"], (whole["desired_spec"] as { spec: { replicas: number } }).spec.replicas],
      ["synced", 2],
    );
    const list = JSON.parse((await lab.keelson("get deploy -o json")).out) as {
      resources: { name: string }[];
    };
    assert.deepEqual(
      list.resources.map(({ name }) => name),
      ["web"],
    );
    assert.match((await lab.keelson("get cm settings -o yaml")).out, /^ {4}mode: "0644"$/m);
  });

  test("a word that means nothing is told with the one that was probably meant", async () => {
    const cases: readonly (readonly [string, number, string])[] = [
      ["get deploymnets", 2, 'no resource is of a kind "deploymnets": did you mean deployments?'],
      ["get settings", 2, 'no resource is of a kind "settings": did you mean configmap/settings?'],
      ["get deploy/wbe", 1, "there is no resource deploy/wbe: did you mean deploy/web?"],
      [
        "get deploymnet/web",
        1,
        "there is no resource deploymnet/web: did you mean deployment/web?",
      ],
      ["sync wbe", 1, "there is no resource wbe: did you mean web?"],
      ["history deploy", 2, "deploy is all of them: name one, as deploy/NAME"],
      [
        "get deploy/nope -n x",
        1,
        'there is no resource deploy/nope in namespace x: "keelson get" shows what there is',
      ],
      ["get 4711", 1, 'there is no resource with the id 4711: "keelson get" shows what there is'],
      [
        "get a/b/c",
        2,
        '"a/b/c" names no resource: write KIND/NAME, as deployment/web, or CLUSTER/NAMESPACE/KIND/NAME',
      ],
      [
        "get deploy --status drfited",
        2,
        "keelson: option '--status <status>' argument 'drfited' is invalid. Allowed choices are deleting, error, pending, out-of-sync, drifted, pending-applied, synced: did you mean drifted?",
      ],
      [
        "get -o xml",
        2,
        "keelson: option '-o, --output <format>' argument 'xml' is invalid. Allowed choices are table, wide, json, yaml, name",
      ],
      [
        "get -l app",
        2,
        "keelson: option '-l, --selector <key=value>' argument 'app' is invalid. It must be a label and its value: app=web",
      ],
      ["sync", 2, "name a resource, as deployment/web, or say which with -l or --all"],
      [
        "sync deploy",
        2,
        "deploy is all of them: name one, as deploy/NAME, or say which with -l or --all",
      ],
      ["resource histry", 2, "keelson: unknown command 'histry': did you mean history?"],
      ["apply -f nowhere --cluster prod", 2, "nowhere does not exist"],
      [
        "apply -f all/1-web.yaml",
        2,
        "say which cluster with --cluster, as --cluster local; it may be given again",
      ],
      [
        "apply --cluster prod",
        2,
        "keelson: required option '-f, --filename <path>' not specified: see \"keelson apply --help\"",
      ],
      [
        "apply -f all/1-web.yaml --cluster prod --timeout soon",
        2,
        "keelson: option '--timeout <duration>' argument 'soon' is invalid. It must be a duration with its unit, such as 500ms, 30s, 5m or 90d",
      ],
    ];
    for (const [words, code, said] of cases) {
      assert.deepEqual(await lab.keelson(words), { code, out: "", said: `${said}\n` }, words);
    }
    for (const [words, hint] of [
      ["get -l app=nobody", ""],
      ["get -l app=nobody --cluster prod", ""],
      ["get --cluster nowhere", ""],
      ["get --cluster prdo", ": did you mean --cluster prod?"],
    ] as const) {
      const expected = { code: 0, out: "", said: `no resource matches${hint}\n` };
      assert.deepEqual(await lab.keelson(words), expected, words);
    }
  });
}

export function testWatching(lab: CommandLab): void {
  test("get --watch shows what changes, goes on after a break, and ends at Ctrl-C", async () => {
    lab.bed.rest.runEvents();
    await lab.bed.becomes(1, ({ health }) => health === "Healthy");
    await using proxy = await HttpProxy.to(Number(new URL(lab.url).port));
    const stop = new AbortController();
    let shown = "";
    const watching = typing(`http://127.0.0.1:${proxy.port}`, lab.folder)(
      "get deploy,cm -n default -w",
      {
        signal: stop.signal,
        onOutput: (all) => {
          shown = all;
        },
      },
    );
    const row = (name: string, status: string, revision: number) =>
      until(() => {
        const words = shown.split("\n").map((line) => line.split(/ +/));
        return words.some(
          (one) => one[0] === name && one[3] === status && one[5] === `${revision}`,
        );
      }, lab.signal);
    await row("deployment/web", "synced", 5);
    await row("configmap/settings", "synced", 1);
    await lab.file("more.yaml", settings.replace("settings", "more"));
    await lab.keelson("apply -f more.yaml --cluster prod");
    await row("configmap/more", "synced", 1);
    await lab.keelson("pause cm/more");
    await row("configmap/more", "synced,paused", 1);

    // A server that comes back cannot answer at first: neither where the stream is opened again nor where it leads to.
    const refusals = new Map([
      ["/api/v1/events", 2],
      ["/api/v1/resources", 2],
    ]);
    proxy.intercept = ({ path }) => {
      const [place = "", left = 0] = [...refusals].find(([one]) => path.startsWith(one)) ?? [];
      refusals.set(place, left - 1);
      const body = { error: "not ready", code: "DATABASE_UNAVAILABLE", details: {} };
      return left > 0 ? { code: 503, body } : undefined;
    };
    proxy.cut();
    await lab.file("more.yaml", settings.replace("settings", "more").replace("yes", "no"));
    await lab.keelson("apply -f more.yaml --cluster prod");
    await row("configmap/more", "out-of-sync,paused", 2);
    await lab.keelson("resume cm/more");
    await row("configmap/more", "synced", 2);
    await lab.keelson("delete cm/more");
    await row("configmap/more", "deleted", 2);
    stop.abort();
    const end = await watching;
    assert.equal(end.code, 130);
    assert.match(end.said, /^the stream of events broke off \(.+\): trying again\n$/);
    const lines = end.out.trimEnd().split("\n");
    assert.equal(lines.filter((line) => line.startsWith("NAME ")).length, 1);
    assert.ok(!end.out.includes("namespace/demo"));
    // Nothing is shown twice in a row of one resource.
    const ofWeb = lines.filter((line) => line.startsWith("deployment/web "));
    assert.equal(ofWeb.length, 1, end.out);
  });

  test("get --watch tells of the end of what it has shown, not of what a label leaves out", async () => {
    const stop = new AbortController();
    let shown = "";
    const watching = lab.keelson("get -l app=mine -w", {
      signal: stop.signal,
      onOutput: (all) => {
        shown = all;
      },
    });
    const row = (pattern: RegExp) => until(() => pattern.test(shown), lab.signal);
    const configMap = (name: string) =>
      settings.replace("settings", `${name}\n  labels: { app: ${name} }`);
    for (const name of ["mine", "other"]) await lab.file(`${name}.yaml`, configMap(name));
    await lab.keelson("apply -f mine.yaml -f other.yaml --cluster prod --wait");
    await row(/^configmap\/mine .* synced /m);
    await lab.keelson("delete cm/other --wait");
    await lab.keelson("delete cm/mine --wait");
    await row(/^configmap\/mine .* deleted /m);
    stop.abort();
    assert.equal((await watching).code, 130);
    assert.doesNotMatch(shown, /configmap\/other/);
  });

  test("get --watch tells of the end of what went while it heard nothing, not of what lost its label", async () => {
    await using proxy = await HttpProxy.to(Number(new URL(lab.url).port));
    const labelled = (name: string, app: string) =>
      settings.replace("settings", `${name}\n  labels: { app: ${app} }`);
    for (const name of ["stays", "goes"]) await lab.file(`${name}.yaml`, labelled(name, "mine"));
    // Nobody is there, and so nothing happens there but what is asked for.
    await lab.keelson("apply -f stays.yaml -f goes.yaml --cluster quiet");
    const stop = new AbortController();
    let shown = "";
    const watching = typing(`http://127.0.0.1:${proxy.port}`, lab.folder)(
      "get -l app=mine --cluster quiet -w",
      {
        signal: stop.signal,
        onOutput: (all) => {
          shown = all;
        },
      },
    );
    const row = (pattern: RegExp) => until(() => pattern.test(shown), lab.signal);
    await row(
      /^configmap\/goes .*\n(.*\n)*configmap\/stays |^configmap\/stays .*\n(.*\n)*configmap\/goes /m,
    );
    const body = { error: "not ready", code: "DATABASE_UNAVAILABLE", details: {} };
    proxy.intercept = () => ({ code: 503, body });
    proxy.cut();
    await lab.file("stays.yaml", labelled("stays", "others"));
    await lab.keelson("apply -f stays.yaml --cluster quiet");
    await lab.keelson("delete cm/goes --cluster quiet --wait");
    proxy.intercept = () => undefined;
    await row(/^configmap\/goes .* deleted /m);
    stop.abort();
    assert.equal((await watching).code, 130);
    assert.doesNotMatch(shown, /configmap\/stays .* deleted /);
    await lab.keelson("delete cm/stays --cluster quiet --wait");
  });
}
