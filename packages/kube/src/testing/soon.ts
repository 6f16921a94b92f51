// Work that must end soon is tried in a thread of its own: one that would take for ever is ended.

import { once } from "node:events";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";

/** Far more than anything may take, also on a busy machine; far less than for ever. */
const deadlineMs = 120_000;

/**
 * What one of the cases of a module gives, found in a thread. The thread loads the module, which is to ask `answerInThread`
 * before it does anything else.
 */
export async function soon(module: string, name: string): Promise<unknown> {
  return await firstWordOf(new Worker(new URL(module), { workerData: { name } }));
}

/** The first that a thread says; it is ended then. */
export async function firstWordOf(worker: Worker): Promise<unknown> {
  try {
    const signal = AbortSignal.timeout(deadlineMs);
    const [value] = (await once(worker, "message", { signal })) as [unknown];
    return value;
  } finally {
    await worker.terminate();
  }
}

/** Whether this is such a thread; if so the case it is for has been carried out. */
export async function answerInThread(
  cases: Readonly<Record<string, () => unknown>>,
): Promise<boolean> {
  if (isMainThread) return false;
  const { name } = workerData as { readonly name: string };
  // oxlint-disable-next-line require-post-message-target-origin -- a thread has no origin
  parentPort?.postMessage(await cases[name]?.());
  return true;
}
