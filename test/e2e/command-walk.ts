// The command line as a person types it, in processes of its own, before a `keelson up` that runs.

import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { until } from "../oracle/until.ts";
import { typingAt, type TypingOptions } from "./typed-process.ts";

export interface WalkOptions extends TypingOptions {
  readonly kubectl: (...words: string[]) => Promise<string>;
}

const shop = (a: string) => `apiVersion: v1
kind: ConfigMap
metadata: { name: shop }
data: { a: "${a}" }
`;

const name = "local/default/configmap/shop";

/** Declares an object, looks at it, changes it, goes back and deletes it. */
export async function walkCommands(
  { dataDir, folder, kubectl }: WalkOptions,
  signal: AbortSignal,
): Promise<void> {
  const keelson = typingAt({ dataDir, folder }, signal);
  const typed = async (line: string, expected: { code?: number; out?: string; said?: string }) =>
    assert.deepEqual(await keelson(line), { code: 0, out: "", said: "", ...expected }, line);

  const targets = await keelson("target list -o name");
  assert.deepEqual([targets.code, targets.out.split("\n").includes("local")], [0, true]);
  await writeFile(join(folder, "shop.yaml"), shop("1"));
  await typed("apply -f shop.yaml --cluster local --dry-run", {
    out: `${name} created (dry run)\n`,
  });
  await typed("get cm/shop", {
    code: 1,
    said: 'keelson: there is no resource cm/shop: "keelson get" shows what there is\n',
  });
  await typed("apply -f shop.yaml --cluster local --wait --timeout 2m", {
    out: `${name} created\n${name} synced\n`,
  });
  const shown = await keelson("get cm/shop");
  assert.match(
    shown.out,
    /^NAME {13}CLUSTER {3}NAMESPACE {3}STATUS {3}HEALTH {4}REVISION {3}AGE\nconfigmap\/shop {3}local {5}default {5}synced {3}Healthy {3}1 {10}\d+s\n$/,
  );
  await typed("diff cm/shop", { said: "no difference\n" });

  // Somebody else's edit does not last.
  await kubectl("patch", "configmap/shop", "--type=merge", '-p={"data":{"a":"by hand"}}');
  const value = () => kubectl("get", "configmap/shop", "-o=jsonpath={.data.a}");
  await until(async () => (await value()) === "1", signal);

  await writeFile(join(folder, "shop.yaml"), shop("2"));
  await typed("diff -f shop.yaml --cluster local", {
    code: 1,
    out: `${name}: one field differs\n  data.a: would be changed\n    - "1"\n    + "2"\n`,
  });
  await typed("apply -f shop.yaml --cluster local --wait --timeout 2m", {
    out: `${name} configured\n${name} synced\n`,
  });
  assert.equal(await value(), "2");
  await typed("rollback cm/shop --to-revision 1 --wait --timeout 2m", {
    out: `${name} rolled back to revision 1 (generation 3)\n${name} synced\n`,
  });
  assert.equal(await value(), "1");
  await typed("history cm/shop -o name", { out: "1\n2\n1\n" });
  await typed("delete cm/shop --wait --timeout 2m", { out: `${name} deleting\n${name} gone\n` });
  assert.equal(
    await kubectl("get", "configmaps", "--field-selector=metadata.name=shop", "-o=name"),
    "",
  );
  await typed("delete", {
    code: 2,
    said: "keelson: name a resource, as deployment/web, or say which with -l or --all\n",
  });
}
