import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { stepsOf } from "./guide.ts";
import { isShown } from "./shown-output.ts";

const page = `# A page

\`\`\`yaml
# some/web.yaml
a: 1
\`\`\`

\`\`\`console
$ cat > x <<'END'
> one
>
> END
$ cat x
one
> two
\`\`\`

\`\`\`console server
$ serve
ready
\`\`\`

\`\`\`console until
$ look
there
\`\`\`

\`\`\`text
anything
\`\`\`

\`\`\`console server
^C
gone
\`\`\`
`;

suite("the reader of guides", () => {
  test("finds files, what is typed and what is shown", () => {
    const typed = (terminal: string, repeats: boolean, ...commands: object[]) => {
      return { kind: "typed", terminal, repeats, commands };
    };
    assert.deepEqual(stepsOf(page), [
      { kind: "file", line: 3, name: "some/web.yaml", text: "# some/web.yaml\na: 1\n" },
      typed(
        "main",
        false,
        { line: 9, text: "cat > x <<'END'\none\n\nEND", shown: [] },
        { line: 13, text: "cat x", shown: ["one", "> two"] },
      ),
      typed("server", false, { line: 19, text: "serve", shown: ["ready"] }),
      typed("main", true, { line: 24, text: "look", shown: ["there"] }),
      typed("server", false, { line: 33, text: "^C", shown: ["gone"] }),
    ]);
  });

  test("takes no block that nobody would follow", () => {
    for (const [blocks, message] of [
      ["```\nkubectl get pods\n```", /line 1: a block is/],
      ["```yaml\na: 1\n```", /names its file/],
      ["```console\nno prompt\n```", /begins with no command/],
      ["```console until\n$ look\n```", /what is repeated/],
      ["\n```console\n$ a", /line 2: the block has no end/],
    ] as const) {
      assert.throws(() => stepsOf(blocks), message, blocks);
    }
  });

  test("compares word for word, but for what differs from run to run", () => {
    const cases: readonly (readonly [string, string, boolean])[] = [
      ["web created", "web created\n", true],
      ["web created", "web configured\n", false],
      ["web created", "web created\nand more\n", false],
      ["NAME  AGE\nweb   5s", "NAME  AGE\nweb   1m12s\n", true],
      ["NAME  AGE\nweb   5s", "NAME   AGE\nweb    soon\n", false],
      ["at 2026-01-01T00:00:00Z", "at 2031-12-24T10:11:12.345Z\n", true],
      [
        "id 00000000-0000-4000-8000-000000000000",
        "id 3f2b8a52-91d2-4c1f-9a0e-3f6f2f0a8f11\n",
        true,
      ],
      ["pod/web-…  Running", "pod/web-7c5-x2k9p  Running\n", true],
      ["pod/web-…  Running", "pod/web-7c5-x2k9p  Pending\n", false],
      ["first\n…\nlast", "first\nlast\n", true],
      ["first\n…\nlast", "first\na\nb\nlast\n", true],
      ["first\n…\nlast", "first\na\nb\n", false],
      ["a.c (x)", "abc (x)\n", false],
      ["…", "", true],
    ];
    for (const [shown, printed, expected] of cases) {
      const is = isShown(shown.split("\n"), printed, { isBeginning: false });
      assert.equal(is, expected, `${shown} | ${printed}`);
    }
    assert.ok(isShown([], "\n", { isBeginning: false }));
    assert.ok(!isShown([], "something\n", { isBeginning: false }));
    assert.ok(isShown(["ready"], "ready\nand more", { isBeginning: true }));
    assert.ok(!isShown(["ready"], "not ready\n", { isBeginning: true }));
  });
});
