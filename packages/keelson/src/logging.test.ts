import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { newLog } from "./logging.ts";

suite("log lines", () => {
  test("are JSON with level, time, message, fields of child and line, and errors with their causes", () => {
    const lines: string[] = [];
    const log = newLog({ level: "info", format: "json", write: (line) => lines.push(line) });
    log.debug({}, "not this one");
    const error = new Error("outer", { cause: new Error("inner") });
    log.child({ part: "a", id: 1 }).warn({ id: 2, error }, "something");
    assert.equal(lines.length, 1);
    const { time, error: shown, ...rest } = JSON.parse(lines[0] ?? "") as Record<string, unknown>;
    assert.deepEqual(rest, { level: "warn", part: "a", id: 2, message: "something" });
    assert.ok(Number.isFinite(Date.parse(String(time))));
    assert.match(JSON.stringify(shown), /outer.*inner/);
  });

  test("keep a field that is called like the message itself", () => {
    const line = (format: "json" | "text"): string => {
      const lines: string[] = [];
      const log = newLog({ level: "info", format, write: (line) => lines.push(line) });
      log.child({ message: "of the part" }).info({ part: "a" }, "parts");
      log.info({ message: "of the line" }, "lines");
      return lines.join("");
    };
    const [child, own] = line("json").trimEnd().split("\n");
    for (const [text = "", message, field] of [
      [child, "parts", "of the part"],
      [own, "lines", "of the line"],
    ] as const) {
      assert.equal(text.match(/"message":/g)?.length, 1, text);
      const { message: said, message_: kept } = JSON.parse(text) as Record<string, unknown>;
      assert.deepEqual([said, kept], [message, field]);
    }
    assert.match(line("text"), /parts .*"of the part".*\n.*lines .*"of the line"/);
  });

  test("are short for people", () => {
    const lines: string[] = [];
    const log = newLog({ level: "debug", format: "text", write: (line) => lines.push(line) });
    log.info({ url: "http://x", text: "two words", n: 1 }, "ready");
    assert.match(
      lines[0] ?? "",
      /^\d\d:\d\d:\d\d info {2}ready {2}url=http:\/\/x {2}text="two words" {2}n=1\n$/,
    );
  });
});
