import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { EventReader } from "./event-stream.ts";

suite("the stream of events", () => {
  test("pieces may end anywhere, also within a letter", () => {
    const text =
      ': still here\n\nid: 7\nevent: resource.updated\ndata: {"name":"café"}\n\n' +
      ': still here\nid: 9\n\nid: 10\nevent: reset\ndata: {"reason":"gone"}\n\nid: 11\nevent: half';
    const bytes = new TextEncoder().encode(text);
    const expected = [
      { type: "resource.updated", data: { name: "café" } },
      { type: "reset", data: { reason: "gone" } },
    ];
    for (let size = 1; size <= bytes.length; size++) {
      const reader = new EventReader();
      const read = [];
      for (let at = 0; at < bytes.length; at += size) {
        read.push(...reader.read(bytes.slice(at, at + size)));
      }
      assert.deepEqual(read, expected, `pieces of ${size}`);
      assert.equal(reader.lastId, "10");
    }
  });

  test("a beat alone moves the place from which to go on", () => {
    const reader = new EventReader();
    assert.deepEqual(reader.read(new TextEncoder().encode(": still here\nid: 9\n\n")), []);
    assert.equal(reader.lastId, "9");
  });
});
