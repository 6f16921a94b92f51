import assert from "node:assert/strict";
import { mkdtempDisposableSync, readFileSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { suite } from "node:test";

import { isJsonArray, isJsonObject, type Json } from "@keelson/base";
import { loadBuiltinKinds, type FieldType, type GoField } from "@keelson/kube";

import { oracleTest } from "../oracle-test.ts";
import { dataFolder, extractKinds } from "./extract.ts";
import { fillObjects } from "./go-types.ts";

suite("extracted kinds", () => {
  oracleTest("the committed data is what the oracle shows", async (t) => {
    using folder = mkdtempDisposableSync(join(tmpdir(), "keelson-kinds-"));
    await extractKinds(folder.path, t.signal);
    assert.deepEqual(readdirSync(folder.path).sort(), readdirSync(dataFolder).sort());
    for (const file of readdirSync(folder.path)) {
      const lines = (path: string): string[] => readFileSync(path, "utf8").split("\n");
      assert.deepEqual(lines(join(folder.path, file)), lines(join(dataFolder, file)), file);
    }
  });

  oracleTest("an object with everything in it is printed as its structs say", async () => {
    const kinds = await loadBuiltinKinds();
    const filled = fillObjects(kinds.all);
    const problems: string[] = [];

    /** The fields as they stand in JSON: those of inlined structs among the others. */
    const flatten = (type: string): readonly GoField[] =>
      kinds.structOf(type)?.fields.flatMap((field) => {
        if (!field.isInline) return [field];
        return field.type.form === "struct" ? flatten(field.type.struct) : [];
      }) ?? [];

    const check = (value: Json | undefined, type: FieldType, path: string): void => {
      if (value === undefined) return;
      if (type.form === "list" && isJsonArray(value)) {
        value.forEach((item, index) => check(item, type.item, `${path}[${index}]`));
      } else if (type.form === "map" && isJsonObject(value)) {
        for (const [key, item] of Object.entries(value)) check(item, type.value, `${path}.${key}`);
      } else if (type.form === "struct" && isJsonObject(value)) {
        if (kinds.structOf(type.struct)?.isOpaque === true) return;
        const fields = flatten(type.struct);
        const names = fields.map(({ name }) => name).filter((name) => Object.hasOwn(value, name));
        if (names.join() !== Object.keys(value).join()) {
          problems.push(`${path} has ${Object.keys(value).join()}, not ${names.join()}`);
        }
        for (const field of fields) check(value[field.name], field.type, `${path}.${field.name}`);
      }
    };

    for (const [index, { type, kind }] of kinds.all.entries()) {
      const { object, protobuf } = filled[index] ?? { object: {}, protobuf: "" };
      check(object as Json, { form: "struct", struct: type }, kind);
      assert.equal(Buffer.from(protobuf, "base64").subarray(0, 4).toString("hex"), "6b387300");
    }
    assert.deepEqual(problems, []);
  });
});
