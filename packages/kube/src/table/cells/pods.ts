// The cells of Pods: what became of their containers, in a word.

import type { Json, JsonObject } from "@keelson/base";
import { ageOf } from "../human-duration.ts";
import {
  age,
  at,
  conditionStatus,
  count,
  isDeleted,
  list,
  nameOf,
  orElse,
  text,
  type CellsOf,
  type Subject,
} from "./reading.ts";

/** What has been learned of a Pod's containers. */
interface Progress {
  reason: string;
  restarts: number;
  ready: number;
  /** When a container last ended, in RFC 3339. */
  lastRestart: string;
}

export const podCells: CellsOf = (subject) => {
  const { object, nowMs } = subject;
  const sidecars = sidecarNames(object);
  const total = list(object, "spec", "containers").length + sidecars.size;
  const progress = progressOf(object, sidecars);
  const phase = text(object, "status", "phase");
  let { reason } = progress;
  if (isDeleted(subject) && text(object, "status", "reason") === "NodeLost") reason = "Unknown";
  else if (isDeleted(subject) && phase !== "Succeeded" && phase !== "Failed")
    reason = "Terminating";
  const { restarts, lastRestart } = progress;
  const restartCell =
    restarts !== 0 && lastRestart !== ""
      ? `${restarts} (${ageOf(lastRestart, nowMs)} ago)`
      : String(restarts);
  return [
    nameOf(subject),
    `${progress.ready}/${total}`,
    reason,
    restartCell,
    age(subject),
    orElse(text(list(object, "status", "podIPs")[0], "ip"), "<none>"),
    orElse(text(object, "spec", "nodeName"), "<none>"),
    orElse(text(object, "status", "nominatedNodeName"), "<none>"),
    readinessGates(object),
  ];
};

/** Rows of finished Pods say so, for `kubectl` to leave them out. */
export function podConditions({ object }: Subject): readonly Json[] | undefined {
  const phase = text(object, "status", "phase");
  if (phase !== "Succeeded" && phase !== "Failed") return undefined;
  const message = phase === "Succeeded" ? "The pod has completed successfully." : "The pod failed.";
  return [{ type: "Completed", status: "True", reason: phase, message }];
}

function sidecarNames(pod: JsonObject): Set<string> {
  const names = list(pod, "spec", "initContainers")
    .filter((container) => text(container, "restartPolicy") === "Always")
    .map((container) => text(container, "name"));
  return new Set(names);
}

function progressOf(pod: JsonObject, sidecars: ReadonlySet<string>): Progress {
  const status = at(pod, "status");
  const progress: Progress = {
    reason: orElse(text(status, "reason"), text(status, "phase")),
    restarts: 0,
    ready: 0,
    lastRestart: "",
  };
  const gated = list(status, "conditions").some(
    (item) => text(item, "type") === "PodScheduled" && text(item, "reason") === "SchedulingGated",
  );
  if (gated) progress.reason = "SchedulingGated";

  const ofSidecars = { restarts: 0, lastRestart: "" };
  const isInitializing = readInitContainers(pod, sidecars, progress, ofSidecars);
  if (!isInitializing || conditionStatus(pod, "Initialized") === "True") {
    progress.restarts = ofSidecars.restarts;
    progress.lastRestart = ofSidecars.lastRestart;
    readContainers(pod, progress);
  }
  return progress;
}

function noteRestarts(container: Json, into: { restarts: number; lastRestart: string }): void {
  into.restarts += count(container, "restartCount");
  const ended = text(container, "lastState", "terminated", "finishedAt");
  if (
    ended !== "" &&
    (into.lastRestart === "" || Date.parse(into.lastRestart) < Date.parse(ended))
  ) {
    into.lastRestart = ended;
  }
}

/** Whether the Pod is still waiting for its init containers. */
function readInitContainers(
  pod: JsonObject,
  sidecars: ReadonlySet<string>,
  progress: Progress,
  ofSidecars: { restarts: number; lastRestart: string },
): boolean {
  for (const [index, container] of list(pod, "status", "initContainerStatuses").entries()) {
    noteRestarts(container, progress);
    const isSidecar = sidecars.has(text(container, "name"));
    if (isSidecar) noteRestarts(container, ofSidecars);
    const terminated = at(container, "state", "terminated");
    const waiting = text(container, "state", "waiting", "reason");
    if (terminated !== undefined && count(terminated, "exitCode") === 0) continue;
    if (isSidecar && at(container, "started") === true) {
      if (at(container, "ready") === true) progress.ready++;
      continue;
    }
    if (terminated !== undefined) progress.reason = `Init:${endedReason(terminated)}`;
    else if (waiting !== "" && waiting !== "PodInitializing") progress.reason = `Init:${waiting}`;
    else progress.reason = `Init:${index}/${list(pod, "spec", "initContainers").length}`;
    return true;
  }
  return false;
}

function endedReason(terminated: Json): string {
  const reason = text(terminated, "reason");
  if (reason !== "") return reason;
  const signal = count(terminated, "signal");
  return signal === 0 ? `ExitCode:${count(terminated, "exitCode")}` : `Signal:${signal}`;
}

function readContainers(pod: JsonObject, progress: Progress): void {
  let isRunning = false;
  let errorReason = "";
  for (const container of [...list(pod, "status", "containerStatuses")].reverse()) {
    noteRestarts(container, progress);
    const waiting = text(container, "state", "waiting", "reason");
    const terminated = at(container, "state", "terminated");
    if (waiting !== "") {
      progress.reason = waiting;
    } else if (terminated !== undefined) {
      progress.reason = endedReason(terminated);
      if (count(terminated, "exitCode") !== 0) errorReason = progress.reason;
    } else if (at(container, "ready") === true && at(container, "state", "running") !== undefined) {
      isRunning = true;
      progress.ready++;
    }
  }
  if (progress.reason !== "Completed") return;
  // One container has ended well, but others may not have.
  if (isRunning && conditionStatus(pod, "Ready") === "True") progress.reason = "Running";
  else if (errorReason !== "") progress.reason = errorReason;
  else if (isRunning) progress.reason = "NotReady";
}

function readinessGates(pod: JsonObject): string {
  const gates = list(pod, "spec", "readinessGates");
  if (gates.length === 0) return "<none>";
  const open = gates.filter((gate) => conditionStatus(pod, text(gate, "conditionType")) === "True");
  return `${open.length}/${gates.length}`;
}
