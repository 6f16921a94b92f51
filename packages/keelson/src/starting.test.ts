import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { Starting } from "./starting.ts";

/** A part that starts when the test says so, and tells what became of it. */
function part() {
  const started = Promise.withResolvers<void>();
  const said: string[] = [];
  const start = async (signal: AbortSignal): Promise<AsyncDisposable> => {
    signal.addEventListener("abort", () => said.push("told to end"));
    await started.promise;
    return {
      [Symbol.asyncDispose]: async () => {
        said.push("ended");
      },
    };
  };
  return { started, said, start };
}

suite("a part that starts beside others", () => {
  test("is there when it has started, and ends with its block", async () => {
    const { start, started, said } = part();
    {
      await using starting = new Starting(start, new AbortController().signal);
      started.resolve();
      await starting.ready;
      assert.deepEqual(said, []);
    }
    assert.deepEqual(said, ["told to end", "ended"]);
  });

  test("is waited for and ended by a block that is left before it has started", async () => {
    const { start, started, said } = part();
    const left = (async () => {
      await using _starting = new Starting(start, new AbortController().signal);
      throw new Error("another part failed");
    })();
    const seen = assert.rejects(left, /another part failed/);
    started.resolve();
    await seen;
    assert.deepEqual(said, ["told to end", "ended"]);
  });

  test("says why it did not start to whoever waits, and to nobody else", async () => {
    const { start, started, said } = part();
    started.reject(new Error("no port is free"));
    {
      await using starting = new Starting(start, new AbortController().signal);
      await assert.rejects(starting.ready, /no port is free/);
    }
    {
      await using _unasked = new Starting(start, new AbortController().signal);
    }
    assert.deepEqual(said, ["told to end", "told to end"]);
  });

  test("hears of the end of everything", async () => {
    const { start, started, said } = part();
    const everything = new AbortController();
    await using starting = new Starting(start, everything.signal);
    everything.abort();
    assert.deepEqual(said, ["told to end"]);
    started.resolve();
    await starting.ready;
  });
});
