// Manifests become resources.

import assert from "node:assert/strict";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { lines } from "../../services/typed.ts";
import { deployment, settings, type CommandLab } from "./lab.ts";

export function testApplying(lab: CommandLab): void {
  test("apply declares every object of its files, tells what became of each, and waits", async () => {
    await mkdir(join(lab.folder, "all"));
    await lab.file("all/1-web.yaml", `${deployment(2)}---\n# nothing here\n---\n${settings}`);
    await lab.file(
      "all/2-demo.json",
      '{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"demo"}}',
    );
    await lab.file("all/notes.txt", "no manifest");
    const created = await lab.keelson("apply -f all --cluster prod --wait");
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
    const live = await lab.bed.find("ConfigMap", "settings");
    assert.deepEqual(live?.["data"], { mode: "0644", a: "yes" });

    const again = await lab.keelson("apply -f all/1-web.yaml -f - --cluster prod", {
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

  test("manifests that cannot be meant are refused by their place, and nothing is written", async () => {
    await lab.file("broken.yaml", "apiVersion: v1\nkind: [\n");
    await lab.file(
      "nameless.yaml",
      "apiVersion: v1\nkind: ConfigMap\nmetadata: { generateName: x- }\n",
    );
    await lab.file("elsewhere.yaml", settings.replace("  uid: 1234", "  namespace: other"));
    await lab.file("wrong.yaml", `${settings}---\n${settings.replace("settings", "Big")}`);
    const refused = async (words: string) => {
      const { code, out, said } = await lab.keelson(words);
      assert.equal(out, "");
      return `${code} ${said.trimEnd().split("\n").at(-1)}`;
    };
    assert.match(
      await refused("apply -f broken.yaml --cluster prod"),
      /^2 broken\.yaml cannot be read: yaml: line 3: /,
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
    assert.equal((await lab.keelson("get cm -o name")).out, "prod/default/configmap/settings\n");
  });
}
