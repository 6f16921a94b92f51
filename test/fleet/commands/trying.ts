// What would become of manifests, before anything is done.

import assert from "node:assert/strict";
import { test } from "node:test";
import { lines } from "../../services/typed.ts";
import { deployment, settings, type CommandLab } from "./lab.ts";

const plain = (name: string) =>
  settings.replace(/ {2}(uid|res).*\n/g, "").replace("settings", name);

const lost = { kind: "ConfigMap", name: "lost", desired_spec: { data: { a: "1" } } };

export function testTrying(lab: CommandLab): void {
  test("apply --dry-run and diff -f tell what would become of each object, and keep nothing", async () => {
    const everything = () => lab.keelson("get deploy,cm -o json");
    const before = await everything();
    const space = "apiVersion: v1\nkind: Namespace\nmetadata: { name: space }\n";
    await lab.file(
      "tried.yaml",
      [deployment(4), plain("settings"), plain("new"), space].join("---\n"),
    );
    assert.deepEqual(await lab.keelson("apply -f tried.yaml --cluster prod --dry-run"), {
      code: 0,
      out: lines(
        "prod/default/deployment/web configured (dry run)",
        "prod/default/configmap/settings unchanged (dry run)",
        "prod/default/configmap/new created (dry run)",
        "prod/-/namespace/space created (dry run)",
      ),
      said: "",
    });
    const asJson = await lab.keelson("apply -f tried.yaml --cluster prod --dry-run -o json");
    const { dry_run: isTrial, results } = JSON.parse(asJson.out) as {
      dry_run: boolean;
      results: { name: string; outcome: string; result: { spec?: { replicas: number } } }[];
    };
    assert.deepEqual(
      [isTrial, results.map(({ name, outcome, result }) => [name, outcome, result.spec?.replicas])],
      [
        true,
        [
          ["web", "updated", 4],
          ["settings", "unchanged", undefined],
          ["new", "created", undefined],
          ["space", "created", undefined],
        ],
      ],
    );

    const differs = await lab.keelson("diff -f tried.yaml --cluster prod");
    assert.equal(differs.code, 1);
    assert.equal(
      differs.out,
      lines(
        "prod/default/deployment/web: one field differs",
        "  spec.replicas: would be changed",
        "    - 2",
        "    + 4",
        "prod/default/configmap/new: 2 fields differ",
        "  data.a: would be added",
        '    + "yes"',
        "  data.mode: would be added",
        '    + "0644"',
        "prod/-/namespace/space: would be created",
      ),
    );
    assert.deepEqual(await lab.keelson("diff -f tried.yaml --cluster prod -o name"), {
      code: 1,
      out: lines(
        "prod/default/deployment/web",
        "prod/default/configmap/new",
        "prod/-/namespace/space",
      ),
      said: "",
    });
    await lab.file("same.yaml", [deployment(2), plain("settings")].join("---\n"));
    assert.deepEqual(await lab.keelson("diff -f same.yaml --cluster prod"), {
      code: 0,
      out: "",
      said: "no differences\n",
    });
    assert.deepEqual(await everything(), before);
    assert.equal(await lab.bed.find("ConfigMap", "new"), undefined);
  });

  test("what a cluster would refuse is told by its place, and ends it with 1", async () => {
    await lab.file("mixed.yaml", [plain("new"), deployment(-1)].join("---\n"));
    const mixed = await lab.keelson("apply -f mixed.yaml --cluster prod --dry-run");
    assert.deepEqual(
      [mixed.code, mixed.out],
      [1, "prod/default/configmap/new created (dry run)\n"],
    );
    assert.match(
      mixed.said,
      /^mixed\.yaml, document 2: prod\/default\/deployment\/web would be refused: .*spec\.replicas: Invalid value: -1: .+\n$/,
    );
    await lab.file("new.yaml", plain("new"));
    for (const words of ["apply --dry-run", "diff"]) {
      const lost = await lab.keelson(`${words} -f new.yaml --cluster nowhere`);
      assert.deepEqual([lost.code, lost.out], [1, ""], words);
      assert.match(
        lost.said,
        /^new\.yaml: nowhere\/default\/configmap\/new would be refused: .*nowhere.*\n$/,
      );
    }
    await lab.file("big.yaml", plain("Big"));
    const wrong = await lab.keelson("apply -f big.yaml --cluster prod --dry-run");
    assert.equal(wrong.code, 1);
    assert.match(
      wrong.said,
      /^big\.yaml: configmap\/Big is refused, and nothing was written: name: /,
    );
  });

  test("from whom a field would be taken is told, and a refusal where that is not wanted", async () => {
    const maps = await lab.bed.configMaps();
    const metadata = { namespace: "default", name: "theirs" };
    const theirs = { apiVersion: "v1", kind: "ConfigMap", metadata, data: { a: "theirs" } };
    await maps.apply(theirs, { fieldManager: "somebody" }, lab.signal);
    await lab.file("theirs.yaml", plain("theirs"));
    assert.deepEqual(await lab.keelson("apply -f theirs.yaml --cluster prod --dry-run"), {
      code: 0,
      out: "prod/default/configmap/theirs created (dry run)\n",
      said: "prod/default/configmap/theirs: would take data.a (of somebody)\n",
    });
    assert.deepEqual(
      await lab.keelson("apply -f theirs.yaml --cluster prod --dry-run --conflict-policy report"),
      {
        code: 1,
        out: "",
        said: "theirs.yaml: prod/default/configmap/theirs would be refused: conflict: others own data.a (of somebody)\n",
      },
    );
    const differs = await lab.keelson("diff -f theirs.yaml --cluster prod");
    assert.match(
      differs.out,
      /^ {2}data\.a: would be changed, it is of somebody\n {4}- "theirs"$/m,
    );
    await maps.delete(metadata, lab.signal);
  });

  test("sync, pause, resume and delete --dry-run ask the clusters, and change nothing", async () => {
    const everything = () => lab.keelson("get deploy,cm -o json");
    const before = await everything();
    const web = "prod/default/deployment/web";
    for (const [words, out, said] of [
      ["sync web", `${web} asked to sync (dry run)`, ""],
      [
        "pause web",
        `${web} paused (dry run)`,
        `${web}: it is paused: nothing is applied until it is resumed\n`,
      ],
      ["resume web", `${web} already resumed (dry run)`, ""],
      ["delete web", `${web} deleting (dry run)`, ""],
      ["delete web --orphan", `${web} forgotten, its object stays (dry run)`, ""],
    ] as const) {
      const expected = { code: 0, out: `${out}\n`, said };
      assert.deepEqual(await lab.keelson(`${words} --dry-run`), expected, words);
    }
    // What nobody can ask is told, and ends it with 1; the others are tried all the same.
    await lab.bed.create({ cluster_id: "nowhere", namespace: "default", ...lost });
    const all = await lab.keelson("delete --all --dry-run -n default");
    assert.deepEqual(
      [all.code, all.out],
      [
        1,
        lines(
          "prod/default/deployment/web deleting (dry run)",
          "prod/default/configmap/settings deleting (dry run)",
        ),
      ],
    );
    assert.match(all.said, /^nowhere\/default\/configmap\/lost would be refused: .*nowhere.*\n$/);
    assert.equal((await lab.keelson("delete nowhere/default/configmap/lost --wait")).code, 0);
    assert.deepEqual(await everything(), before);
  });

  test("trials that cannot be meant are refused", async () => {
    for (const [words, said] of [
      [
        "apply -f new.yaml --cluster prod --dry-run --wait",
        "keelson: option '--dry-run' cannot be used with option '--wait': see \"keelson apply --help\"",
      ],
      [
        "delete web --dry-run --wait",
        "keelson: option '--dry-run' cannot be used with option '--wait': see \"keelson delete --help\"",
      ],
      [
        "diff web -f new.yaml --cluster prod",
        "name resources, or give manifests with -f, but not both",
      ],
      [
        "diff -f new.yaml",
        "say which cluster with --cluster, as --cluster local; it may be given again",
      ],
      [
        "diff web --cluster prod --cluster other",
        "--cluster may be given again with -f only: here it narrows down to one",
      ],
      [
        "delete web --cluster prod --cluster other",
        "--cluster may be given again with -f only: here it narrows down to one",
      ],
    ] as const) {
      assert.deepEqual(await lab.keelson(words), { code: 2, out: "", said: `${said}\n` }, words);
    }
  });
}
