import assert from "node:assert/strict";
import { until } from "../tools/until.ts";

/**
 * Asks until the answer has this status. A 503 may pass: on a machine that stands still for seconds a part of the server
 * has not said in time that it is well. Any other status fails at once. Answers the text.
 */
export async function expectAnswer(
  ask: () => Promise<Response>,
  status: number,
  signal: AbortSignal,
): Promise<string> {
  const { url, found, text } = await until(
    async () => {
      const answer = await ask();
      const found = answer.status;
      const text = await answer.text();
      return (found === status || found !== 503) && { url: answer.url, found, text };
    },
    signal,
    `${status} instead of 503`,
  );
  assert.deepEqual([url, found], [url, status], text);
  return text;
}
