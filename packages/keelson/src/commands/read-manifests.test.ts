import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { CommandError } from "./command-error.ts";
import { readManifests } from "./read-manifests.ts";

/** What is said of a text on standard input. */
async function complaintOf(text: string): Promise<string> {
  return (await refusalOf(text)).message;
}

async function refusalOf(text: string): Promise<CommandError> {
  const terminal = {
    write: () => assert.fail("nothing is to be said"),
    note: () => assert.fail("nothing is to be said"),
    hasColours: false,
    readInput: () => Promise.resolve(text),
  };
  const read = readManifests(
    { terminal, workingFolder: "/" },
    ["-"],
    { isRecursive: false },
    new AbortController().signal,
  );
  return read.then(
    () => assert.fail("it is to be refused"),
    (error: CommandError) => error,
  );
}

suite("manifests that cannot be read", () => {
  test("lines are counted from the beginning of the file, not of the document", async () => {
    const good = "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: a }\n";
    assert.match(
      await complaintOf(`${good}---\n# the second\na: 1\n b: 2\n`),
      /^standard input, document 2 cannot be read: yaml: line 7: /,
    );
    assert.match(
      await complaintOf(`${good}---\n{"a": 1,\n "b" 2}\n`),
      /^standard input, document 2 cannot be read: .* at line 6, column /,
    );
    assert.match(
      await complaintOf("a: 1\n b: 2\n"),
      /^standard input cannot be read: yaml: line 2: /,
    );
  });

  test("whatever is wrong with them, they are what was typed", async () => {
    for (const text of ["a: [", '{"a" 1}', "- 1", "just words", "# nothing"]) {
      assert.equal((await refusalOf(text)).exitCode, 2, text);
    }
  });

  test("an empty standard input is called by its name", async () => {
    assert.equal(await complaintOf("# nothing\n"), "standard input holds no objects");
  });
});
