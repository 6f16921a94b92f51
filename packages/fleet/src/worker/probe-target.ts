import { isCancellation } from "@keelson/base";
import type { Client } from "@keelson/client";
import { failureOf, type TargetFailure } from "./failure.ts";

export interface TargetHealth {
  readonly health: "Healthy" | "Degraded" | "Unreachable";
  readonly message: string | null;
}

const probeTimeoutMs = 5_000;

/** Asks a cluster how it is. What it says of itself; or why it says nothing. */
export async function probeTarget(
  client: Client,
  signal: AbortSignal,
): Promise<TargetHealth | TargetFailure> {
  const request = { method: "GET", path: "/readyz", timeoutMs: probeTimeoutMs } as const;
  try {
    await client.call(request, signal);
    return { health: "Healthy", message: null };
  } catch (error) {
    if (isCancellation(error, signal)) throw error;
    const failure = failureOf(error);
    if (failure.about === "target") return failure;
    const { httpStatus, message } = failure;
    if (httpStatus === null) return { about: "target", reason: "unreachable", message };
    // It may say no to this path, or not know it; it has said something.
    if (httpStatus < 500) return { health: "Healthy", message: null };
    return { health: "Degraded", message: `it says that it is not ready (${httpStatus})` };
  }
}
