import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { suite, test } from "node:test";
import { promisify } from "node:util";

import { findFreePorts } from "./ports.ts";

/** Of programs that nobody starts by these; few enough to meet, and enough for several runs at once. */
const range = { lowest: 10_800, highest: 10_900 };

suite(
  "ports",
  { skip: process.platform !== "linux" && "ports are reserved on Linux alone" },
  () => {
    test("those who ask at once, here and in another process, are given different ones", async (t) => {
      const program = `
      const { findFreePorts } = await import(${JSON.stringify(import.meta.resolve("./ports.ts"))});
      console.log(JSON.stringify(await findFreePorts(4, ${JSON.stringify(range)})));
      await new Promise((resolve) => process.stdin.on("end", resolve).resume());`;
      const options = { signal: t.signal };
      const other = promisify(execFile)(
        process.execPath,
        ["--input-type=module", "-e", program],
        options,
      );
      const said = new Promise<string>((resolve) => other.child.stdout?.once("data", resolve));
      const own = await Promise.all(Array.from({ length: 4 }, () => findFreePorts(1, range)));
      const theirs = JSON.parse(await said) as readonly number[];
      other.child.stdin?.end();
      await other;
      const all = [...own.flat(), ...theirs];
      assert.equal(new Set(all).size, 8, all.join());
    });

    test("a range that is used up is told, not drawn from for ever", async () => {
      const few = { lowest: 10_900, highest: 10_903 };
      await assert.rejects(findFreePorts(4, few), /no 4 ports are free from 10900 to 10902/);
    });
  },
);
