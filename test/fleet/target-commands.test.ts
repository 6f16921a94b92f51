// `keelson target …` before the real API.

import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, suite, test } from "node:test";
import { createServer } from "node:tls";
import { openAccess } from "@keelson/fleet";
import { lines, typing } from "../services/typed.ts";
import { CertificateAuthority } from "../tools/certificates.ts";
import { testCipher } from "./assembled-worker.ts";
import { startFleetRest, type FleetRest } from "./fleet-rest.ts";

const kubeconfig = `apiVersion: v1
kind: Config
current-context: first
contexts:
- { name: first, context: { cluster: one, user: me } }
- { name: second, context: { cluster: two, user: runner } }
clusters:
- { name: one, cluster: { server: "https://one.example:6443", certificate-authority: ca.crt } }
- { name: two, cluster: { server: "https://two.example:6443" } }
users:
- { name: me, user: { tokenFile: token } }
- { name: runner, user: { exec: { apiVersion: client.authentication.k8s.io/v1, command: fetch-token } } }
`;

const away = "http://127.0.0.1:9";
const authority = "an authority";

suite("commands about targets", () => {
  const scope = new AsyncDisposableStack();
  let rest: FleetRest;
  let folder: string;
  let keelson: ReturnType<typeof typing>;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "keelson-targets-"));
    scope.defer(() => rm(folder, { recursive: true }));
    await writeFile(join(folder, "config"), kubeconfig);
    // Nobody listens there.
    await writeFile(join(folder, "away"), kubeconfig.replace("https://one.example:6443", away));
    await writeFile(join(folder, "ca.crt"), authority);
    await writeFile(join(folder, "token"), "a-token\n");
    await writeFile(
      join(folder, "web.yaml"),
      "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: web }\n",
    );
    rest = scope.use(await startFleetRest());
    keelson = typing(await rest.listen(), folder);
  });
  after(() => scope.disposeAsync());

  test("without any, list says how to make one", async () => {
    assert.deepEqual(await keelson("target list"), {
      code: 0,
      out: "",
      said: 'there are no targets yet: "keelson target create NAME --kubeconfig FILE" makes one\n',
    });
  });

  test("create sends one context, with what its files hold in place of their names", async () => {
    assert.deepEqual(
      await keelson("target create eu-1 --kubeconfig config --label region=eu --label tier=gold"),
      {
        code: 0,
        out: "eu-1 created: https://one.example:6443\n",
        said: "",
      },
    );
    const [row] = await rest.tables.query<{ credential: Buffer }>("SELECT credential FROM targets");
    const stored = JSON.stringify(
      openAccess(testCipher, "eu-1", row?.credential ?? Buffer.alloc(0)),
    );
    assert.ok(stored.includes(Buffer.from(authority).toString("base64")), stored);
    assert.match(stored, /a-token/);
    assert.doesNotMatch(stored, /two\.example|fetch-token|ca\.crt/);
  });

  test("list and get show targets; what is not there is told with the closest name", async () => {
    assert.deepEqual(await keelson("target create edge --agent --paused"), {
      code: 0,
      out: "edge created\n",
      said: "a worker inside the cluster delivers to it: keelson serve --roles worker --cluster-id edge\n",
    });
    assert.equal(
      (await keelson("target list")).out,
      lines(
        "NAME   HEALTH           CONTACT   SERVER                     LABELS",
        "edge   Unknown,paused   -         agent                      -",
        "eu-1   Unknown          -         https://one.example:6443   region=eu,tier=gold",
      ),
    );
    assert.equal((await keelson("target list -o name")).out, "edge\neu-1\n");
    const got = JSON.parse((await keelson("target get eu-1 -o json")).out) as Record<
      string,
      unknown
    >;
    assert.deepEqual([got["cluster_id"], got["labels"]], ["eu-1", { region: "eu", tier: "gold" }]);
    assert.ok(!("credential" in got) && !("kubeconfig" in got));
    assert.deepEqual(await keelson("target get eu1"), {
      code: 1,
      out: "",
      said: "there is no target eu1: did you mean eu-1?\n",
    });
    assert.equal((await keelson("target resume edge")).out, "edge resumed\n");
    assert.equal((await keelson("target pause eu-1 edge -o name")).out, "eu-1\nedge\n");
    assert.deepEqual(JSON.parse((await keelson("target resume edge -o json")).out), {
      results: [{ name: "edge", outcome: "resumed" }],
    });
    assert.match((await keelson("target list")).out, /^eu-1 {3}Unknown,paused /m);
  });

  test("get --watch shows what changes, and what goes", async () => {
    await keelson("target create gone --agent");
    const stop = new AbortController();
    let step = 0;
    const typed: ReturnType<typeof keelson>[] = [];
    const steps = [
      [/^gone +Unknown +/m, "target pause gone"],
      [/^gone +Unknown,paused +/m, "target delete gone"],
    ] as const;
    const watched = await keelson("target get gone --watch", {
      signal: stop.signal,
      onOutput: (all) => {
        const [pattern, next] = steps[step] ?? [/^gone +deleted +/m, undefined];
        if (!pattern.test(all)) return;
        step += 1;
        if (next === undefined) stop.abort();
        else typed.push(keelson(next));
      },
    });
    assert.equal(watched.code, 130);
    assert.match(
      watched.out,
      /^NAME .*\ngone +Unknown .*\ngone +Unknown,paused .*\ngone +deleted .*\n$/,
    );
    assert.deepEqual(
      (await Promise.all(typed)).map(({ out }) => out),
      ["gone paused\n", "gone deleted\n"],
    );
  });

  test("--dry-run says what would come of a target, and changes nothing", async (t) => {
    const before = (await keelson("target list -o json")).out;
    for (const [words, expected] of [
      ["create x --agent", { code: 0, out: "x created (dry run)\n", said: "" }],
      [
        "pause edge",
        {
          code: 0,
          out: "edge paused (dry run)\n",
          said: "edge: it is paused: nothing is written to it until it is resumed\n",
        },
      ],
      ["resume eu-1", { code: 0, out: "eu-1 resumed (dry run)\n", said: "" }],
      ["delete eu-1", { code: 0, out: "eu-1 deleted (dry run)\n", said: "" }],
      ["delete eu1", { code: 1, out: "", said: "there is no target eu1: did you mean eu-1?\n" }],
    ] as const) {
      assert.deepEqual(await keelson(`target ${words} --dry-run`), expected, words);
    }
    const away = await keelson("target create x --kubeconfig away --dry-run");
    assert.deepEqual([away.code, away.out], [1, ""]);
    assert.match(away.said, /^x would be refused: x cannot be reached: .+\n$/);
    // Not what Node says: its advice is for another trust than that of a kubeconfig.
    const stranger = await (
      await CertificateAuthority.create("strangers")
    ).issue({ name: "x", hosts: ["127.0.0.1"] });
    const server = createServer({ cert: stranger.certificate, key: stranger.key });
    await once(server.listen(0, "127.0.0.1"), "listening");
    t.after(() => server.close());
    const { port } = server.address() as AddressInfo;
    const strange = kubeconfig.replace("https://two.example:6443", `https://127.0.0.1:${port}`);
    await writeFile(join(folder, "strange"), strange.replace(/exec: .* \} \}/, "token: t } }"));
    assert.deepEqual(
      await keelson("target create x --kubeconfig strange --context second --dry-run"),
      {
        code: 1,
        out: "",
        said: "x would be refused: x cannot be reached: no answer: its certificate is not trusted (UNABLE_TO_VERIFY_LEAF_SIGNATURE)\n",
      },
    );
    // The copies that would come are tried too.
    const map = { namespace: "default", kind: "ConfigMap", name: "rules" };
    const made = await rest.ask("POST", "/global-resources", {
      ...map,
      desired_spec: { data: { a: "1" } },
      selector: { matchLabels: { tier: "edge" } },
    });
    const joining = await keelson("target create x --agent --label tier=edge --dry-run");
    assert.deepEqual([joining.code, joining.out], [1, "x created (dry run)\n"]);
    assert.match(joining.said, /^x\/default\/configmap\/rules would be refused: .*inside.*\n$/);
    await rest.ask("DELETE", `/global-resources/${made.body.id}`);
    assert.equal((await keelson("target list -o json")).out, before);
  });

  test("what cannot be created is refused with the field and the way out", async () => {
    const cases: readonly (readonly [string, number, RegExp])[] = [
      ["target create x --kubeconfig nowhere", 2, /^nowhere does not exist$/],
      [
        "target create x --kubeconfig config --context secnd",
        2,
        /^config has no context secnd: did you mean second\?$/,
      ],
      [
        "target create x --kubeconfig config --context second",
        1,
        /users\[0\]\.user\.exec: user runner uses exec, which is not allowed here: take a user with a token or a certificate, or put it under targets: of the server's keelson\.config\.yaml$/,
      ],
      ["target create x", 2, /^say how to reach it with --kubeconfig, or with --agent /],
      [
        "target create eu-1 --kubeconfig config",
        1,
        /^there is a target eu-1 already: "keelson target get eu-1" shows it, and PUT \/api\/v1\/targets\/eu-1 gives it another kubeconfig or other labels$/,
      ],
      [
        "target create inner --agent --wait --timeout 1ms",
        1,
        /^inner: Unknown still, after 0\.001 s: no worker inside it has told of it yet$/m,
      ],
      ["target create x --kubeconfig ca.crt", 2, /^ca\.crt is no kubeconfig$/],
      ["target crate x", 2, /unknown command 'crate': did you mean create\?/],
    ];
    for (const [words, code, said] of cases) {
      const typed = await keelson(words);
      assert.deepEqual([typed.code, typed.out.replace("inner created\n", "")], [code, ""], words);
      assert.match(typed.said.trimEnd(), said, words);
    }
  });

  test("delete refuses a target with resources, and says how to go on", async () => {
    await keelson("apply -f web.yaml --cluster eu-1");
    assert.deepEqual(await keelson("target delete eu-1"), {
      code: 1,
      out: "",
      said:
        'eu-1 has resources: delete them with "keelson delete --all --cluster eu-1", ' +
        "or forget them and leave their objects with --orphan\n",
    });
    assert.equal((await keelson("target delete eu-1 --orphan")).out, "eu-1 deleted\n");
    assert.equal((await keelson("get -o name")).out, "");
    assert.equal((await keelson("target delete edge inner")).out, "edge deleted\ninner deleted\n");
    assert.equal((await keelson("target delete edge")).code, 1);
  });
});
