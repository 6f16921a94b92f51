// The commands about resources before the real API and a real worker: what people read, and how scripts are told.

import assert from "node:assert/strict";
import { mkdtemp, mkdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, suite, test } from "node:test";
import { sharedThrowawayPostgres } from "@keelson/database/testing";
import { TcpProxy } from "../oracle/tcp-proxy.ts";
import { until } from "../oracle/until.ts";
import { startBed, type Bed, type Worker } from "./bed.ts";
import { startFleetRest } from "./fleet-rest.ts";
import { typing } from "./typed.ts";

const deployment = (replicas: number) => `apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  creationTimestamp: null
  labels: { app: web }
spec:
  replicas: ${replicas}
  selector: { matchLabels: { app: web } }
  template:
    metadata: { labels: { app: web } }
    spec: { containers: [{ name: web, image: nginx }] }
status: {}
`;

const settings = `apiVersion: v1
kind: ConfigMap
metadata:
  name: settings
  uid: 1234
  resourceVersion: "7"
data: { mode: "0644", a: "yes" }
`;

const lines = (...all: string[]) => `${all.join("\n")}\n`;

suite("commands about resources", () => {
  const ended = new AbortController();
  const scope = new AsyncDisposableStack();
  let bed: Bed;
  let worker: Worker;
  let folder: string;
  let url: string;
  let keelson: ReturnType<typeof typing>;
  const file = async (name: string, content: string): Promise<string> => {
    await writeFile(join(folder, name), content);
    return name;
  };

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "keelson-commands-"));
    scope.defer(() => rm(folder, { recursive: true }));
    bed = scope.use(await startBed(ended.signal, { simulatesWorkloads: true }));
    worker = bed.startWorker();
    url = await bed.rest.listen();
    keelson = typing(url, folder);
  });
  after(async () => {
    await scope.disposeAsync();
    ended.abort();
  });

  test("apply declares every object of its files, tells what became of each, and waits", async () => {
    await mkdir(join(folder, "all"));
    await file("all/1-web.yaml", `${deployment(2)}---\n# nothing here\n---\n${settings}`);
    await file(
      "all/2-demo.json",
      '{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"demo"}}',
    );
    await file("all/notes.txt", "no manifest");
    const created = await keelson("apply -f all --cluster prod --wait");
    assert.deepEqual(
      { ...created, out: created.out.split("\n").slice(0, 3) },
      {
        code: 0,
        out: [
          "prod/default/deployment/web created",
          "prod/default/configmap/settings created",
          "prod/-/namespace/demo created",
        ],
        said: "configmap/settings: left out metadata.uid, metadata.resourceVersion\n",
      },
    );
    assert.deepEqual(created.out.split("\n").slice(3).toSorted(), [
      "",
      "prod/-/namespace/demo synced",
      "prod/default/configmap/settings synced",
      "prod/default/deployment/web synced",
    ]);
    // As kubectl reads it: 0644 in quotes stays a text.
    const live = await bed.find("ConfigMap", "settings");
    assert.deepEqual(live?.["data"], { mode: "0644", a: "yes" });

    const again = await keelson("apply -f all/1-web.yaml -f - --cluster prod", {
      input: '{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"demo","labels":{"a":"b"}}}',
    });
    assert.equal(
      again.out,
      lines(
        "prod/default/deployment/web unchanged",
        "prod/default/configmap/settings unchanged",
        "prod/-/namespace/demo configured",
      ),
    );
  });

  test("get shows all, kinds, names and labels", async () => {
    await bed.becomes(1, ({ health }) => health === "Healthy");
    await bed.becomes(3, ({ status }) => status === "synced");
    const all = await keelson("get");
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
      assert.deepEqual(await keelson(words), { code: 0, out: web, said: "" }, words);
    }
    assert.equal(
      (await keelson("get deploy,ns -o name")).out,
      lines("prod/default/deployment/web", "prod/-/namespace/demo"),
    );
    const wide = await keelson("get deploy -o wide");
    assert.equal(
      wide.out,
      lines(
        "NAME             CLUSTER   NAMESPACE   STATUS   HEALTH    REVISION   AGE   ID   GENERATION   API VERSION   MESSAGE",
        "deployment/web   prod      default     synced   Healthy   1          0s    1    1            apps/v1",
      ),
    );
    const whole = JSON.parse((await keelson("get deployment/web -o json")).out) as Record<
      string,
      unknown
    >;
    assert.deepEqual(
      [whole["status"], (whole["desired_spec"] as { spec: { replicas: number } }).spec.replicas],
      ["synced", 2],
    );
    const list = JSON.parse((await keelson("get deploy -o json")).out) as {
      resources: { name: string }[];
    };
    assert.deepEqual(
      list.resources.map(({ name }) => name),
      ["web"],
    );
    assert.match((await keelson("get cm settings -o yaml")).out, /^ {4}mode: "0644"$/m);
  });

  test("a word that means nothing is told with the one that was probably meant", async () => {
    const cases: readonly (readonly [string, number, string])[] = [
      ["get deploymnets", 2, 'no resource is of a kind "deploymnets": did you mean deployments?'],
      ["get settings", 2, 'no resource is of a kind "settings": did you mean configmap/settings?'],
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
        "get deploy --status fine",
        1,
        "status: must be one of deleting, error, pending, out-of-sync, drifted, pending-applied, synced",
      ],
      [
        "get -o xml",
        2,
        "error: option '-o, --output <format>' argument 'xml' is invalid. Allowed choices are table, wide, json, yaml, name.",
      ],
      [
        "get -l app",
        2,
        "error: option '-l, --selector <key=value>' argument 'app' is invalid. It must be a label and its value: app=web",
      ],
      ["sync", 2, "name a resource, as deployment/web, or say which with -l or --all"],
      [
        "sync deploy",
        2,
        "deploy is all of them: name one, as deploy/NAME, or say which with -l or --all",
      ],
      ["resource hist", 2, "error: unknown command 'hist'\n(Did you mean history?)"],
      ["apply -f nowhere --cluster prod", 2, "nowhere does not exist"],
      [
        "apply -f all/1-web.yaml",
        2,
        "say which cluster with --cluster, as --cluster local; it may be given again",
      ],
      ["apply --cluster prod", 2, "error: required option '-f, --filename <path>' not specified"],
      [
        "apply -f all/1-web.yaml --cluster prod --timeout soon",
        2,
        "error: option '--timeout <duration>' argument 'soon' is invalid. It must be a duration with its unit, such as 500ms, 30s, 5m or 90d.",
      ],
    ];
    for (const [words, code, said] of cases) {
      assert.deepEqual(await keelson(words), { code, out: "", said: `${said}\n` }, words);
    }
    assert.deepEqual(await keelson("get -l app=nobody"), {
      code: 0,
      out: "",
      said: "no resource matches\n",
    });
  });

  test("manifests that cannot be meant are refused by their place, and nothing is written", async () => {
    await file("broken.yaml", "apiVersion: v1\nkind: [\n");
    await file(
      "nameless.yaml",
      "apiVersion: v1\nkind: ConfigMap\nmetadata: { generateName: x- }\n",
    );
    await file("elsewhere.yaml", settings.replace("  uid: 1234", "  namespace: other"));
    await file("wrong.yaml", `${settings}---\n${settings.replace("settings", "Big")}`);
    const refused = async (words: string) => {
      const { code, out, said } = await keelson(words);
      assert.equal(out, "");
      return `${code} ${said.trimEnd().split("\n").at(-1)}`;
    };
    assert.match(
      await refused("apply -f broken.yaml --cluster prod"),
      /^1 broken\.yaml cannot be read: yaml: line 3: /,
    );
    assert.equal(
      await refused("apply -f nameless.yaml --cluster prod"),
      "2 nameless.yaml has no metadata.name: is it a Kubernetes manifest?",
    );
    assert.equal(
      await refused("apply -f elsewhere.yaml -n default --cluster prod"),
      "2 elsewhere.yaml: ConfigMap settings is of namespace other, and -n says default",
    );
    assert.match(
      await refused("apply -f wrong.yaml --cluster prod"),
      /^1 wrong\.yaml, document 2: configmap\/Big is refused, and nothing was written: name: a lowercase RFC 1123 subdomain/,
    );
    assert.equal((await keelson("get cm -o name")).out, "prod/default/configmap/settings\n");
  });

  test("history shows what changed, and rollback goes back", async () => {
    await file("web.yaml", deployment(5));
    await keelson("apply -f web.yaml --cluster prod --wait");
    const asked = await keelson("rollback web");
    assert.deepEqual(asked, {
      code: 2,
      out: "",
      said:
        "say where to, with --to-revision or --to-generation: prod/default/deployment/web is at revision 2 and was at 1; " +
        '"keelson history prod/default/deployment/web" shows them\n',
    });
    const unknown = await keelson("rollback web --to-revision 9");
    assert.deepEqual(unknown, {
      code: 1,
      out: "",
      said: 'revision 9 is not in the history: "keelson history prod/default/deployment/web" shows what is\n',
    });
    const back = await keelson("rollback deployment/web --to-revision 1 --wait");
    assert.deepEqual(back, {
      code: 0,
      out: lines(
        "prod/default/deployment/web rolled back to revision 1 (generation 3)",
        "prod/default/deployment/web synced",
      ),
      said: "",
    });
    assert.equal(
      (await keelson("rollback web --to-revision 1")).out,
      "prod/default/deployment/web is at revision 1 already\n",
    );
    const { out } = await keelson("history web");
    assert.equal(
      out,
      lines(
        "REVISION   GENERATION   AGE   STATE     ACTOR                     CHANGE",
        "1          3            0s    applied   controller@system.local   spec.replicas: 5 → 2",
        "2          2            0s              controller@system.local   spec.replicas: 2 → 5",
        "1          1            0s              controller@system.local   created",
      ),
    );
    const forth = await keelson("rollback web --to-generation 2");
    assert.equal(
      forth.out,
      "prod/default/deployment/web rolled back to revision 2 (generation 4)\n",
    );
    const two = await keelson("history web --limit 2 -o name");
    assert.equal(two.out, "2\n1\n");
  });

  test("pause, sync and resume do what they say, to one or to many", async () => {
    assert.equal((await keelson("pause deploy/web")).out, "prod/default/deployment/web paused\n");
    assert.equal(
      (await keelson("pause deploy/web")).out,
      "prod/default/deployment/web already paused\n",
    );
    await file("web.yaml", deployment(7));
    const stuck = await keelson("apply -f web.yaml --cluster prod --wait");
    assert.deepEqual(
      [stuck.code, stuck.said],
      [
        1,
        "prod/default/deployment/web: out-of-sync: nothing is written to the cluster until it is resumed\n",
      ],
    );
    assert.match((await keelson("get deploy")).out, / out-of-sync,paused {3}/);
    assert.deepEqual(await keelson("sync web"), {
      code: 0,
      out: "prod/default/deployment/web asked to sync\n",
      said: "prod/default/deployment/web is paused: nothing is applied until it is resumed\n",
    });
    assert.equal(
      (await keelson("resume --all")).out,
      lines(
        "prod/default/deployment/web resumed",
        "prod/default/configmap/settings already resumed",
        "prod/-/namespace/demo already resumed",
      ),
    );
    const synced = await keelson("sync -l app=web --wait");
    assert.equal(
      synced.out,
      lines("prod/default/deployment/web asked to sync", "prod/default/deployment/web synced"),
    );
  });

  test("get --watch shows what changes, goes on after a break, and ends at Ctrl-C", async () => {
    bed.rest.runEvents();
    await bed.becomes(1, ({ health }) => health === "Healthy");
    await using proxy = await TcpProxy.to(Number(new URL(url).port));
    const stop = new AbortController();
    let shown = "";
    const watching = typing(`http://127.0.0.1:${proxy.port}`, folder)(
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
      }, ended.signal);
    await row("deployment/web", "synced", 3);
    await row("configmap/settings", "synced", 1);
    await file("more.yaml", settings.replace("settings", "more"));
    await keelson("apply -f more.yaml --cluster prod");
    await row("configmap/more", "synced", 1);
    await keelson("pause cm/more");
    await row("configmap/more", "synced,paused", 1);

    proxy.cut();
    await file("more.yaml", settings.replace("settings", "more").replace("yes", "no"));
    await keelson("apply -f more.yaml --cluster prod");
    await row("configmap/more", "out-of-sync,paused", 2);
    await keelson("resume cm/more");
    await row("configmap/more", "synced", 2);
    await keelson("delete cm/more");
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

  test("waiting ends with the reason: refused by the cluster, nobody's cluster, out of time, interrupted", async () => {
    await file(
      "bad.yaml",
      "apiVersion: apps/v1\nkind: Deployment\nmetadata: { name: bad }\nspec: { replicas: -1 }\n",
    );
    const bad = await keelson("apply -f bad.yaml --cluster prod --wait");
    assert.equal(bad.code, 1);
    assert.match(
      bad.said,
      /^prod\/default\/deployment\/bad: error: invalid: .*spec\.replicas: Invalid value: -1/,
    );
    const shown = await keelson("get deployment/bad");
    assert.match(shown.out, /^deployment\/bad {3}prod {6}default {5}error {4}Unknown /m);
    assert.match(shown.said, /^prod\/default\/deployment\/bad: invalid: .*spec\.replicas/);
    await keelson("delete deployment bad --wait");

    const lost = await keelson("apply -f web.yaml --cluster nowhere");
    assert.deepEqual(lost, {
      code: 0,
      out: "nowhere/default/deployment/web created\n",
      said: 'no target is registered as nowhere: nothing is delivered until "keelson target add nowhere"\n',
    });
    const waited = await keelson("apply -f web.yaml --cluster nowhere --wait");
    assert.deepEqual(
      [waited.code, waited.said],
      [1, "nowhere/default/deployment/web: pending: no target is registered as nowhere\n"],
    );

    const two = await keelson("pause deployment/web");
    assert.deepEqual(two, {
      code: 2,
      out: "",
      said:
        "deployment/web is 2 resources (prod/default/deployment/web, nowhere/default/deployment/web): " +
        "name one in full, narrow it with --cluster and -n, or say --all\n",
    });

    await worker.stop();
    await file("late.yaml", settings.replace("settings", "late"));
    const late = await keelson("apply -f late.yaml --cluster prod --wait --timeout 100ms");
    assert.equal(late.code, 1);
    assert.match(
      late.said,
      /^prod\/default\/configmap\/late: pending still, after 0\.1 s: no reason is known$/m,
    );
    const stop = new AbortController();
    const interrupted = await keelson("apply -f late.yaml --cluster prod --wait", {
      signal: stop.signal,
      onOutput: () => stop.abort(new Error("Ctrl-C")),
    });
    assert.equal(interrupted.code, 130);
    worker = bed.startWorker();
  });

  test("delete takes names and manifests, waits, and may leave the object", async () => {
    const gone = await keelson("delete nowhere/default/deployment/web --wait");
    assert.equal(
      gone.out,
      lines("nowhere/default/deployment/web deleting", "nowhere/default/deployment/web gone"),
    );
    assert.deepEqual(await keelson("delete cm settings --orphan"), {
      code: 0,
      out: "prod/default/configmap/settings forgotten, its object stays\n",
      said: "",
    });
    assert.ok(await bed.find("ConfigMap", "settings"));
    assert.deepEqual(await keelson("delete -f all --cluster prod"), {
      code: 1,
      out: "",
      said: "there is no resource prod/default/configmap/settings: nothing was deleted; --ignore-not-found deletes the others\n",
    });
    const rest = await keelson("delete -f all --cluster prod --ignore-not-found --wait");
    assert.equal(rest.code, 0, rest.said);
    assert.equal(await bed.find("Deployment", "web", "apps/v1"), undefined);
    await keelson("delete cm/late --wait");
    assert.deepEqual(await keelson("get"), {
      code: 0,
      out: "",
      said: 'there are no resources yet: "keelson apply -f FILE --cluster NAME" makes some\n',
    });
  });

  test("global resources go to the targets that are chosen, and are shown with their clusters", async () => {
    assert.deepEqual(await keelson("global get"), {
      code: 0,
      out: "",
      said: 'there are no global resources yet: "keelson global apply -f FILE" makes some\n',
    });
    await file(
      "policy.yaml",
      settings.replace("settings", "policy").replace(/ {2}(uid|res).*\n/g, ""),
    );
    const nowhere = await keelson([
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
    const everywhere = await keelson("global apply -f policy.yaml --all-targets --wait");
    assert.deepEqual(everywhere, {
      code: 0,
      out: lines("configmap/policy configured", "configmap/policy synced"),
      said: "",
    });
    assert.equal(
      (await keelson("global apply -f policy.yaml")).out,
      "configmap/policy unchanged\n",
    );
    const table = lines(
      "NAME               NAMESPACE   STATUS   CLUSTERS   REVISION   AGE",
      "configmap/policy   default     synced   1/1        1          0s",
    );
    assert.equal((await keelson("global get cm")).out, table);
    assert.equal(
      (await keelson("global get cm/policy")).out,
      `${table}\n${lines("CLUSTER   STATUS   SYNCED GENERATION", "prod      synced   1")}`,
    );
    const copy = await keelson("delete cm/policy");
    assert.equal(copy.code, 1);
    assert.match(copy.said, /global/);

    await file("policy.yaml", settings.replace("settings", "policy").replace("yes", "no"));
    assert.match(
      (await keelson("global apply -f policy.yaml --wait")).out,
      /^configmap\/policy configured\n/,
    );
    assert.equal(
      (await keelson("global history cm/policy")).out,
      lines(
        "REVISION   GENERATION   AGE   STATE    ACTOR                     CHANGE",
        "2          2            0s    wanted   controller@system.local   data.a: yes → no",
        "1          1            0s             controller@system.local   created",
      ),
    );
    assert.equal(
      (await keelson("global rollback cm/policy --to-revision 1")).out,
      "configmap/policy rolled back to revision 1 (generation 3)\n",
    );
    assert.deepEqual(await keelson("global get cm/nobody"), {
      code: 1,
      out: "",
      said: 'there is no global resource cm/nobody: "keelson global get" shows what there is\n',
    });
    assert.equal(
      (await keelson("global delete cm/policy --wait")).out,
      lines("configmap/policy deleting", "configmap/policy gone"),
    );
    assert.equal(await bed.find("ConfigMap", "policy"), undefined);
  });

  test("who may not, and who asks nobody, is told what to do", async () => {
    await using guarded = await startFleetRest(await sharedThrowawayPostgres("embedded"), {
      tokens: { reading: { role: "reader" } },
    });
    const asked = typing(await guarded.listen(), folder);
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
      await said("get", { KEELSON_SERVER: "", KEELSON_DATA_DIR: join(folder, "data") }),
      `1 no server is running on ${join(folder, "data")}: start one with "keelson up", or name one with --server or KEELSON_SERVER`,
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
});
