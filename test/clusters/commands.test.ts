// `keelson cluster …` and `keelson nodepool …` before the real API. One bed for all, in this order: each test goes on with
// what the one before has left.

import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, suite, test } from "node:test";
import type { JsonObject } from "@keelson/base";
import { until } from "@keelson/base/testing";
import { HttpProxy } from "../tools/http-proxy.ts";
import { TcpProxy } from "../tools/tcp-proxy.ts";
import { lines, typing, type TypeOptions } from "../services/typed.ts";
import { available, failure } from "./clusters-rest.ts";
import { drained } from "./events-bed.ts";
import { startLifecycleServer, type LifecycleServer } from "./lifecycle-server.ts";

const timeless = (text: string) => text.replaceAll(/\d{4}-\S+Z/g, "<time>".padEnd(24));

suite("commands about clusters", () => {
  const scope = new AsyncDisposableStack();
  let bed: LifecycleServer;
  let type: ReturnType<typeof typing>;
  let folder: string;

  const keelson = (words: string, options?: TypeOptions) => type(words, options);
  const done = async (words: string, options?: TypeOptions): Promise<string> => {
    const { code, out, said } = await keelson(words, options);
    assert.deepEqual([code, said], [0, ""], words);
    return out;
  };
  const refused = async (words: string, code: number, said: string): Promise<void> =>
    assert.deepEqual(await keelson(words), { code, out: "", said: `${said}\n` }, words);
  const seen = async (words: string) => JSON.parse(await done(`${words} -o json`)) as JsonObject;
  const ask = async (method: string, path: string, body: object): Promise<void> => {
    const answer = await fetch(`${bed.url}${path}`, {
      method,
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    assert.ok(answer.ok, await answer.text());
  };
  const report = async (name: string, controller: string, more: object = {}): Promise<void> => {
    const { id, generation } = await seen(`cluster get ${name} --as alice@example.com`);
    await ask("PUT", `/clusters/${id as string}/status`, {
      controller_name: controller,
      observed_generation: generation,
      conditions: [available()],
      ...more,
    });
  };

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "keelson-clusters-"));
    scope.defer(() => rm(folder, { recursive: true }));
    bed = scope.use(await startLifecycleServer());
    type = typing(bed.url, folder);
  });
  after(() => scope.disposeAsync());

  test("create takes a platform, a file or standard input, and says what is missing", async () => {
    assert.deepEqual(await keelson("cluster list"), {
      code: 0,
      out: "",
      said: 'there are no clusters yet: "keelson cluster create NAME --platform gcp" makes one\n',
    });
    const asAlice = "--as alice@example.com";
    assert.equal(await done(`cluster create one --platform gcp ${asAlice}`), "one created\n");
    await writeFile(
      join(folder, "two.yaml"),
      "platform: { type: aws, region: eu-1 }\npassword: hidden\n",
    );
    assert.equal(
      await done(`cluster create two --spec two.yaml --project p-1 -o name ${asAlice}`),
      "two\n",
    );
    const input = '{"infraID": "x-1"}';
    await done("cluster create one --platform gcp --spec - --as bob@example.com", { input });
    assert.deepEqual((await seen("cluster get one --as bob@example.com"))["spec"], {
      platform: { type: "gcp" },
      infraID: "x-1",
    });

    await refused(
      "cluster create three",
      2,
      "say which platform with --platform, as --platform gcp, or as platform.type of --spec",
    );
    await refused(
      "cluster create three --spec two.yaml --platform gcp",
      2,
      "two.yaml is for platform aws, and --platform says gcp",
    );
    await refused("cluster create three --spec nowhere.yaml", 2, "nowhere.yaml does not exist");
    await refused(
      `cluster create one --platform gcp ${asAlice}`,
      1,
      'a cluster named "one" exists: "keelson cluster update one --spec FILE" changes it',
    );
    await refused(
      "cluster create three --platform gcp --as alice",
      1,
      "the caller's e-mail address is not an address: write --as like you@example.com",
    );
    await refused(
      "cluster list --as alice@example.com --token t",
      2,
      "a token says who you are: leave out --as, or --token and KEELSON_TOKEN",
    );
    const { code, said } = await keelson("cluster crate one");
    assert.deepEqual([code, said], [2, "keelson: unknown command 'crate': did you mean create?\n"]);
  });

  test("list and get show them by name, id and filter, whole or in lines", async () => {
    const all = lines(
      "NAME   PLATFORM   PHASE     READY   GENERATION   AGE",
      "two    aws        Pending   False   1            0s",
      "one    gcp        Pending   False   1            0s",
    );
    assert.equal(await done("cluster list --as alice@example.com"), all);
    assert.equal(await done("cluster list --platform AWS -o name"), "two\n");
    assert.equal(await done("cluster list --name o* -o name"), "one\none\n");
    assert.equal(await done("cluster list --status Ready -o name"), "");
    assert.equal((await keelson("cluster list --status Ready")).said, "no cluster matches\n");
    const { clusters } = await seen("cluster list --platform aws");
    assert.equal((clusters as unknown as unknown[]).length, 1);

    const two = await seen("cluster get two");
    const id = two["id"] as string;
    assert.deepEqual(await keelson(`cluster get ${id}`), {
      code: 0,
      out: lines(
        "NAME   PLATFORM   PHASE     READY   GENERATION   AGE",
        "two    aws        Pending   False   1            0s",
      ),
      said: "two: NoControllers, no controller is expected (0/0 controllers ready)\n",
    });
    assert.equal(
      await done("cluster get two -o wide"),
      lines(
        `NAME   PLATFORM   PHASE     READY   GENERATION   AGE   ID${" ".repeat(34)}   OWNER               PROJECT   MESSAGE`,
        `two    aws        Pending   False   1            0s    ${id}   alice@example.com   p-1       NoControllers, no controller is expected (0/0 controllers ready)`,
      ),
    );
    assert.match(await done("cluster get two -o yaml"), /^ {2}password: "\[REDACTED\]"$/m);
    await refused("cluster get tow", 1, "there is no cluster tow: did you mean two?");
    await refused("cluster delete tw*", 1, "there is no cluster tw*: did you mean two?");
    await refused(
      "cluster get something-else",
      1,
      'there is no cluster something-else: "keelson cluster get" shows them',
    );
    const phases = "Pending, Progressing, Ready, Failed, Deleting, Error";
    for (const [words, flag] of [
      ["cluster list --status ready", "--status"],
      ["nodepool get --status ready", "--status"],
      ["cluster delete two --confirm ready", "--confirm"],
    ] as const) {
      await refused(
        words,
        2,
        `keelson: option '${flag} <phase>' argument 'ready' is invalid. Allowed choices are ${phases}: did you mean Ready?`,
      );
    }
    // A controller sees everybody's.
    const several = await keelson("cluster get one");
    assert.equal(several.code, 1);
    assert.match(
      several.said,
      /^one means several clusters: take an id, or say whose with --as\n {2}[-0-9a-f]{36} of bob@example.com\n {2}[-0-9a-f]{36} of alice@example.com\n$/,
    );
  });

  test("update replaces the spec, once, and only at the generation that was seen", async () => {
    await writeFile(join(folder, "got.yaml"), await done("cluster get two -o yaml"));
    assert.equal(await done("cluster update two --spec got.yaml"), "two unchanged\n");
    await writeFile(join(folder, "two.yaml"), "platform: { type: aws, region: eu-2 }\n");
    assert.equal(
      await done("cluster update two --spec two.yaml --if-generation 1"),
      "two updated (generation 2)\n",
    );
    await refused(
      "cluster update two --spec two.yaml --if-generation 1",
      1,
      'the cluster is at generation 2, not 1: see what it is now with "keelson cluster get two -o yaml"',
    );
    await refused(
      "cluster update two",
      2,
      "keelson: required option '--spec <file>' not specified: see \"keelson cluster update --help\"",
    );
    await writeFile(join(folder, "bad.yaml"), "release: { channelGroup: nightly }\n");
    const bad = await keelson("cluster update two --spec bad.yaml");
    assert.equal(bad.code, 1);
    assert.match(bad.said, /platform/);
  });

  test("status tells conditions and controllers, and what could be done", async () => {
    const controllers = { kinds: ["cluster"], platforms: ["aws"] };
    await ask("PUT", "/controllers/dns", controllers);
    await ask("PUT", "/controllers/network", { ...controllers, finalizer: true });
    assert.deepEqual(await keelson("cluster status one --as bob@example.com"), {
      code: 0,
      out: lines(
        "one, generation 1: Pending, NoControllers, no controller is expected (0/0 controllers ready)",
        "",
        "CONDITION   STATUS   REASON                    SINCE",
        "Ready       False    ControllersNotReady       0s",
        "Available   False    ControllersNotAvailable   0s",
      ),
      said: "no controller has reported, and none is registered for it\n",
    });
    await report("two", "dns", {
      conditions: [available("True"), { type: "Applied", status: "True" }],
    });
    await report("two", "image", {
      conditions: [available("False", { message: "no quota" })],
      last_error: failure("Configuration", { suggestions: ["ask for more quota"] }),
    });
    assert.deepEqual(await keelson("cluster status two -o wide"), {
      code: 0,
      out: lines(
        "two, generation 2: Progressing, ControllersWithErrors, 1/3 controllers ready, 1/3 with errors",
        "",
        "CONDITION   STATUS   REASON                         SINCE",
        "Ready       False    PartiallyReady                 0s",
        "Available   False    PartiallyAvailableWithErrors   0s",
        "",
        "CONTROLLER   GENERATION   AVAILABLE   REPORTED   CONDITIONS                    MESSAGE",
        "dns          2            True        0s         Available=True,Applied=True",
        "image        2            False       0s         Available=False               Configuration E1: it did not work",
        "network      -            -           -          -                             has not reported yet",
      ),
      said: "image: ask for more quota\n",
    });
    const { expected_controllers: expected } = await seen("cluster status two");
    assert.deepEqual(expected, ["dns", "image", "network"]);
  });

  test("--wait waits until it is Ready, and tells at once that it cannot be", async () => {
    await report("two", "image");
    await writeFile(join(folder, "two.yaml"), "platform: { type: aws, region: eu-3 }\n");
    const updating = keelson("cluster update two --spec two.yaml --wait");
    await until(async () => (await seen("cluster get two"))["generation"] === 3);
    for (const controller of ["dns", "image", "network"]) await report("two", controller);
    assert.deepEqual(await updating, {
      code: 0,
      out: lines("two updated (generation 3)", "two Ready"),
      said: "",
    });
    await report("two", "dns", { last_error: failure("Fatal") });
    assert.deepEqual(await keelson("cluster update two --spec two.yaml --wait"), {
      code: 1,
      out: "two unchanged\n",
      said: lines(
        "two: Failed, ControllerFatalError, 3/3 controllers ready, 1/3 with a fatal error: " +
          '"keelson cluster status two" shows who it waits for',
      ),
    });
    await until(async () => (await done("cluster events two")).includes(" → Failed"));
    await report("two", "dns");
  });

  test("reconcile, pause and resume each that is named", async () => {
    assert.equal(await done("cluster reconcile two"), "two asked to reconcile\n");
    const enabled = async () =>
      (
        await bed.tables.query<{ enabled: boolean }>(
          `SELECT enabled FROM reconciliation_schedule JOIN clusters ON id = cluster_id WHERE name = 'two'`,
        )
      )[0]?.enabled;
    assert.equal(await done("cluster pause two"), "two paused\n");
    assert.equal(await enabled(), false);
    assert.deepEqual(await seen("cluster resume two"), {
      results: [{ name: "two", outcome: "resumed" }],
    });
    assert.equal(await enabled(), true);
    await refused(
      "cluster get two --status Ready",
      2,
      "name clusters, or narrow them down with flags, but not both",
    );
  });

  test("get --watch shows what there is, what changes and what goes", async () => {
    await done("cluster create brief --platform gcp --as alice@example.com");
    const stop = new AbortController();
    const deletions: Promise<string>[] = [];
    const watched = await keelson("cluster get brief --watch -o json", {
      signal: stop.signal,
      onOutput: (all) => {
        if (/"phase":"deleted"/.test(all)) stop.abort();
        if (deletions.length === 0) deletions.push(done("cluster delete brief --force"));
      },
    });
    assert.equal(watched.code, 130);
    assert.deepEqual(await Promise.all(deletions), ["brief deleting\n"]);
    const shown = watched.out.trimEnd().split("\n");
    const seenOf = shown.map((line) => JSON.parse(line) as { name: string; status: object });
    assert.deepEqual(new Set(seenOf.map(({ name }) => name)), new Set(["brief"]));
    assert.match(JSON.stringify(seenOf[0]?.status), /"phase":"Pending"/);
  });

  test("get --watch of a phase shows what leaves it as it is then, and not as deleted", async () => {
    const asAlice = "--as alice@example.com";
    const fail = async (name: string): Promise<void> => {
      await done(`cluster create ${name} --platform gcp ${asAlice}`);
      await report(name, "a", { last_error: { errorType: "Fatal", message: "no" } });
    };
    await fail("mended");
    const stop = new AbortController();
    const steps: Promise<void>[] = [];
    const watched = await keelson(`cluster get --status Failed --watch -o json ${asAlice}`, {
      signal: stop.signal,
      onOutput: (all) => {
        if (steps.length === 0) steps.push(report("mended", "a"));
        else if (steps.length === 1) steps.push(fail("next"));
        // It is shown together with whatever was found to be gone.
        if (all.includes('"name":"next"')) stop.abort();
      },
    });
    await Promise.all(steps);
    const shown = watched.out.trimEnd().split("\n");
    assert.deepEqual(
      shown.map((line) => {
        const { name, status } = JSON.parse(line) as { name: string; status: { phase: string } };
        return `${name} ${status.phase}`;
      }),
      ["mended Failed", "mended Ready", "next Failed"],
    );
    for (const name of ["mended", "next"]) await done(`cluster delete ${name} --force ${asAlice}`);
  });

  test("nodepools are told by name and cluster", async () => {
    await done("nodepool create workers --cluster two");
    await writeFile(join(folder, "pool.yaml"), "replicas: 3\n");
    const inOne = "--cluster one --as bob@example.com";
    await done(`nodepool create workers ${inOne} --spec pool.yaml`);
    assert.equal(
      await done("nodepool list"),
      lines(
        "NAME      CLUSTER   PLATFORM   PHASE     READY   GENERATION   AGE",
        "workers   one       gcp        Pending   False   1            0s",
        "workers   two       aws        Pending   False   1            0s",
      ),
    );
    assert.match(
      (await keelson("nodepool get workers")).said,
      /^workers means several nodepools: take an id, or say where with --cluster\n( {2}[-0-9a-f]{36} in cluster [-0-9a-f]{36}\n){2}$/,
    );
    await writeFile(join(folder, "pool.yaml"), "replicas: 4\n");
    assert.equal(
      await done(`nodepool update workers ${inOne} --spec pool.yaml`),
      "workers updated (generation 2)\n",
    );
    assert.equal(await done(`nodepool reconcile workers ${inOne}`), "workers asked to reconcile\n");
    // Events have their place a moment after they were written.
    await until(async () =>
      /\n<time> +nodepool.reconcile +2 +manual_trigger +bob@example.com\n$/.test(
        timeless(await done(`nodepool events workers ${inOne} --limit 1`)),
      ),
    );
    assert.equal(
      await done(`nodepool delete workers ${inOne} --wait`),
      lines("workers deleting", "workers gone"),
    );
    await refused(
      "nodepool create x",
      2,
      "keelson: required option '--cluster <name>' not specified: see \"keelson nodepool create --help\"",
    );
  });

  test("events shows the past, follows over a break, and ends with the cluster; delete is meant", async () => {
    const history = async () => timeless(await done("cluster events one --as bob@example.com"));
    await until(async () => (await history()).includes("cluster_created"));
    assert.equal(
      await history(),
      lines(
        "TIME                       TYPE              GENERATION   REASON            BY                MORE",
        "<time>                     cluster.created   1            cluster_created   bob@example.com",
      ),
    );
    const { events } = await seen("cluster events two --limit 2");
    assert.equal((events as unknown as unknown[]).length, 2);

    await using proxy = await TcpProxy.to(Number(new URL(bed.url).port));
    let shown = "";
    const watching = typing(`http://127.0.0.1:${proxy.port}`, folder)(
      "cluster events two -w --limit 100",
      {
        onOutput: (all) => {
          shown = all;
        },
      },
    );
    await until(() =>
      /cluster.created .*\n(.*\n)*.*status.changed .* Failed → Ready\n/.test(shown),
    );
    const asked = () => shown.split("manual_trigger").length - 1;
    await until(() => asked() === 1);
    await done("cluster reconcile two");
    await until(() => asked() === 2);
    proxy.cut();
    await done("cluster reconcile two");
    await until(() => asked() === 3);
    // Away for longer than the stream reaches back.
    proxy.isRefusing = true;
    proxy.cut();
    await done("cluster reconcile two");
    await until(() => drained(bed.tables));
    await bed.tables.query(
      `UPDATE keelson.numbering SET purged_position = (SELECT max(position) FROM outbox); DELETE FROM outbox`,
    );
    proxy.isRefusing = false;
    await until(() => asked() === 4);

    await refused(
      "cluster delete two",
      1,
      "two is Ready: delete it with --confirm Ready, or with --force, which waits for no controller",
    );
    await refused(
      "cluster delete two --confirm Pending",
      1,
      "two is Ready, not Pending: delete it with --confirm Ready, or with --force, which waits for no controller",
    );
    assert.equal(await done("cluster delete two --confirm Ready"), "two deleting\n");
    const late = await keelson("cluster delete two --wait --timeout 1ms");
    assert.deepEqual([late.code, late.out], [1, "two deleting\n"]);
    assert.equal(
      late.said,
      "two: Deleting still, after 0.001 s, DeletionRequested, deletion was requested: " +
        '"keelson cluster status two" shows who it waits for, and --force waits for no controller\n',
    );
    assert.equal(
      await done("cluster delete two --force --wait"),
      lines("two deleting", "two gone"),
    );
    const { code, out, said } = await watching;
    assert.equal(code, 0);
    assert.match(said, /^(the stream of events broke off \(.+\): trying again\n){2}$/);
    assert.match(out, /cluster.finalized .*\n$/);
    assert.equal(out.split("TIME ").length, 2);
    assert.equal(asked(), 4, out);
  });

  test("what is being deleted tells whom it waits for, and that its name is not free yet", async () => {
    const asCarol = "--as carol@example.com";
    await ask("PUT", "/controllers/pools", {
      kinds: ["nodepool"],
      platforms: ["aws"],
      finalizer: true,
    });
    await done(`cluster create last --platform aws ${asCarol}`);
    for (const name of ["big", "small"]) await done(`nodepool create ${name} --cluster last`);
    const { id } = await seen("cluster get last");
    const says = async (controller: string, more: object): Promise<void> =>
      ask("PUT", `/clusters/${id as string}/status`, {
        controller_name: controller,
        observed_generation: 1,
        conditions: [available()],
        ...more,
      });
    await says("dns", {});
    await says("image", { finalizer: true, last_error: failure("Transient") });
    await done("cluster delete last --confirm Progressing");
    await says("image", {
      observed_generation: 2,
      conditions: [{ type: "Finalized", status: "True" }],
    });
    // Events have their place a moment after they were written.
    await until(async () =>
      /cluster.deleted +2 +deletion_requested +\S+ +waits for image, network\n/.test(
        await done("cluster events last"),
      ),
    );
    const { out, said } = await keelson("cluster status last");
    assert.deepEqual(
      [out, said],
      [
        lines(
          "last, generation 2: Deleting, DeletionRequested, deletion was requested",
          "",
          "CONDITION   STATUS   REASON              SINCE",
          "Ready       False    DeletionRequested   0s",
          "Available   False    DeletionRequested   0s",
          "",
          "CONTROLLER   GENERATION   AVAILABLE   REPORTED   MESSAGE",
          "dns          1            True        0s",
          "image        2            -           0s         has let go",
          "network      -            -           -          has not let go yet",
          "",
          "NODEPOOL   PHASE",
          "small      Deleting",
          "big        Deleting",
        ),
        "",
      ],
    );
    assert.match(
      await done("nodepool status big --cluster last"),
      /\npools +- +- +- +has not let go yet\n$/,
    );
    await says("network", { last_error: failure("Transient") });
    assert.match(
      await done("cluster status last"),
      /\nnetwork .* has not let go yet; Transient E1: it did not work\n/,
    );
    await refused(
      `cluster create last --platform aws ${asCarol}`,
      1,
      'a cluster named "last" exists: it is being deleted, and its name is free once it is gone',
    );
    await done("cluster delete last --force --wait");
    await done(`cluster create last --platform aws ${asCarol}`);
    await done("cluster delete last --force --wait");
  });

  test("a watch that is interrupted ends with 130, and a server that is away is told", async () => {
    const stop = new AbortController();
    const watching = keelson("cluster events one --as bob@example.com -w -o json", {
      signal: stop.signal,
      onOutput: () => stop.abort(),
    });
    const { code, out } = await watching;
    assert.equal(code, 130);
    assert.equal((JSON.parse(out) as JsonObject)["type"], "cluster.created");
    const away = await typing("http://127.0.0.1:1", folder)("cluster list");
    assert.equal(away.code, 1);
    assert.match(
      away.said,
      /cannot be reached .*: is it running there, and is --server right\?\n$/,
    );
  });

  test("a watch of events that breaks off before its first word misses nothing", async () => {
    await using proxy = await HttpProxy.to(Number(new URL(bed.url).port));
    const missed = Promise.withResolvers<void>();
    let streams = 0;
    proxy.intercept = async ({ path, query }) => {
      if (!path.endsWith("/events") || query.has("limit")) return undefined;
      streams += 1;
      if (streams === 1) {
        return { code: 200, headers: { "content-type": "text/event-stream" }, body: {} };
      }
      await missed.promise;
      return undefined;
    };
    const stop = new AbortController();
    let shown = "";
    const watching = typing(`http://127.0.0.1:${proxy.port}`, folder)(
      "cluster events one --as bob@example.com -w",
      {
        signal: stop.signal,
        onOutput: (all) => {
          shown = all;
        },
      },
    );
    await until(() => streams === 2);
    assert.ok(!shown.includes("manual_trigger"));
    await done("cluster reconcile one --as bob@example.com");
    await until(() => drained(bed.tables));
    missed.resolve();
    await until(() => shown.includes("manual_trigger"));
    stop.abort();
    assert.equal((await watching).code, 130);
  });
});
