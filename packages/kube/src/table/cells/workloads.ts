// The cells of workloads.

import type { Json, JsonObject } from "@keelson/base";
import { ageOf, humanDuration } from "../human-duration.ts";
import {
  age,
  at,
  conditionStatus,
  containerCells,
  count,
  isDeleted,
  labelsText,
  list,
  nameOf,
  orElse,
  selectorText,
  text,
  type CellsOf,
  type Subject,
} from "./reading.ts";

const template = ({ object }: Subject): Json | undefined => at(object, "spec", "template");

const deployment: CellsOf = (subject) => {
  const { object } = subject;
  const ready = `${count(object, "status", "readyReplicas")}/${count(object, "spec", "replicas")}`;
  return [
    nameOf(subject),
    ready,
    count(object, "status", "updatedReplicas"),
    count(object, "status", "availableReplicas"),
    age(subject),
    ...containerCells(template(subject)),
    selectorText(at(object, "spec", "selector")),
  ];
};

const replicaSet: CellsOf = (subject) => {
  const { object } = subject;
  return [
    nameOf(subject),
    count(object, "spec", "replicas"),
    count(object, "status", "replicas"),
    count(object, "status", "readyReplicas"),
    age(subject),
    ...containerCells(template(subject)),
    orElse(selectorText(at(object, "spec", "selector")), "<none>"),
  ];
};

const replicationController: CellsOf = (subject) => [
  ...replicaSet(subject).slice(0, 7),
  labelsText(at(subject.object, "spec", "selector")),
];

const statefulSet: CellsOf = (subject) => {
  const { object } = subject;
  const ready = `${count(object, "status", "readyReplicas")}/${count(object, "spec", "replicas")}`;
  return [nameOf(subject), ready, age(subject), ...containerCells(template(subject))];
};

const daemonSet: CellsOf = (subject) => {
  const { object } = subject;
  const status = at(object, "status");
  return [
    nameOf(subject),
    count(status, "desiredNumberScheduled"),
    count(status, "currentNumberScheduled"),
    count(status, "numberReady"),
    count(status, "updatedNumberScheduled"),
    count(status, "numberAvailable"),
    labelsText(at(object, "spec", "template", "spec", "nodeSelector")),
    age(subject),
    ...containerCells(template(subject)),
    orElse(selectorText(at(object, "spec", "selector")), "<none>"),
  ];
};

function jobStatus(subject: Subject): string {
  const has = (type: string): boolean => conditionStatus(subject.object, type) === "True";
  if (has("Complete")) return "Complete";
  if (has("Failed")) return "Failed";
  if (isDeleted(subject)) return "Terminating";
  return ["Suspended", "FailureTarget", "SuccessCriteriaMet"].find(has) ?? "Running";
}

const job: CellsOf = (subject) => {
  const { object, nowMs } = subject;
  const succeeded = count(object, "status", "succeeded");
  const parallelism = count(object, "spec", "parallelism");
  const wanted = at(object, "spec", "completions");
  const completions =
    wanted !== undefined
      ? `${succeeded}/${Number(wanted)}`
      : parallelism > 1
        ? `${succeeded}/1 of ${parallelism}`
        : `${succeeded}/1`;
  const started = text(object, "status", "startTime");
  const ended = text(object, "status", "completionTime");
  const endMs = ended === "" ? nowMs : Date.parse(ended);
  return [
    nameOf(subject),
    jobStatus(subject),
    completions,
    started === "" ? "" : humanDuration(endMs - Date.parse(started)),
    age(subject),
    ...containerCells(template(subject)),
    orElse(selectorText(at(object, "spec", "selector")), "<none>"),
  ];
};

const cronJob: CellsOf = (subject) => {
  const { object, nowMs } = subject;
  const jobTemplate = at(object, "spec", "jobTemplate");
  const suspend = at(object, "spec", "suspend");
  const last = text(object, "status", "lastScheduleTime");
  return [
    nameOf(subject),
    text(object, "spec", "schedule"),
    orElse(text(object, "spec", "timeZone"), "<none>"),
    suspend === undefined ? "<unset>" : suspend === true ? "True" : "False",
    list(object, "status", "active").length,
    last === "" ? "<none>" : ageOf(last, nowMs),
    age(subject),
    ...containerCells(at(jobTemplate, "spec", "template")),
    orElse(selectorText(at(jobTemplate, "spec", "selector")), "<none>"),
  ];
};

const podTemplate: CellsOf = (subject) => {
  const inner = at(subject.object, "template");
  return [nameOf(subject), ...containerCells(inner), labelsText(at(inner, "metadata", "labels"))];
};

const controllerRevision: CellsOf = (subject) => {
  const { object } = subject;
  const owner = list(object, "metadata", "ownerReferences").find(
    (reference) => at(reference, "controller") === true,
  );
  const [group = "", version] = text(owner, "apiVersion").split("/");
  const kind = text(owner, "kind").toLowerCase();
  const qualified = version === undefined ? kind : `${kind}.${group}`;
  const controller = owner === undefined ? "<none>" : `${qualified}/${text(owner, "name")}`;
  return [nameOf(subject), controller, at(object, "revision") ?? 0, age(subject)];
};

const horizontalPodAutoscaler: CellsOf = (subject) => {
  const { object } = subject;
  const target = at(object, "spec", "scaleTargetRef");
  const least = at(object, "spec", "minReplicas");
  return [
    nameOf(subject),
    `${text(target, "kind")}/${text(target, "name")}`,
    metricsText(...metricsOf(object)),
    least === undefined ? "<unset>" : String(Number(least)),
    count(object, "spec", "maxReplicas"),
    count(object, "status", "currentReplicas"),
    age(subject),
  ];
};

/** What is asked and what is measured; the older version knows the processor only. */
function metricsOf(object: JsonObject): [specs: readonly Json[], statuses: readonly Json[]] {
  const wanted = at(object, "spec", "targetCPUUtilizationPercentage");
  if (wanted === undefined) {
    return [list(object, "spec", "metrics"), list(object, "status", "currentMetrics")];
  }
  const measured = at(object, "status", "currentCPUUtilizationPercentage");
  const target = { averageUtilization: wanted };
  const current = measured === undefined ? {} : { averageUtilization: measured };
  return [
    [{ type: "Resource", resource: { name: "cpu", target } }],
    [{ type: "Resource", resource: { name: "cpu", current } }],
  ];
}

const metricsShown = 2;

function metricsText(specs: readonly Json[], statuses: readonly Json[]): string {
  if (specs.length === 0) return "<none>";
  const all = specs.map((spec, index) => metricText(spec, statuses[index]));
  const shown = all.slice(0, metricsShown).join(", ");
  return all.length > metricsShown ? `${shown} + ${all.length - metricsShown} more...` : shown;
}

function metricText(spec: Json, status: Json | undefined): string {
  const unknown = "<unknown>";
  const source = (
    name: string,
  ): { readonly target: Json | undefined; readonly current: Json | undefined } => ({
    target: at(spec, name, "target"),
    current: at(status, name, "current"),
  });
  switch (text(spec, "type")) {
    case "External":
    case "Object": {
      const { target, current } = source(text(spec, "type").toLowerCase());
      const average = text(target, "averageValue");
      if (average !== "")
        return `${orElse(text(current, "averageValue"), unknown)}/${average} (avg)`;
      return `${orElse(text(current, "value"), unknown)}/${text(target, "value")}`;
    }
    case "Pods": {
      const { target, current } = source("pods");
      return `${orElse(text(current, "averageValue"), unknown)}/${text(target, "averageValue")}`;
    }
    case "Resource":
    case "ContainerResource": {
      const name = text(spec, "type") === "Resource" ? "resource" : "containerResource";
      const { target, current } = source(name);
      const resource = text(spec, name, "name");
      const average = text(target, "averageValue");
      if (average !== "") {
        return `${resource}: ${orElse(text(current, "averageValue"), unknown)}/${average}`;
      }
      const percent = (value: Json | undefined, otherwise: string): string => {
        const utilization = at(value, "averageUtilization");
        return utilization === undefined ? otherwise : `${Number(utilization)}%`;
      };
      return `${resource}: ${percent(current, unknown)}/${percent(target, "<auto>")}`;
    }
    default:
      return "<unknown type>";
  }
}

export const workloadCells: Readonly<Record<string, CellsOf>> = {
  "apps/Deployment": deployment,
  "apps/ReplicaSet": replicaSet,
  "/ReplicationController": replicationController,
  "apps/StatefulSet": statefulSet,
  "apps/DaemonSet": daemonSet,
  "batch/Job": job,
  "batch/CronJob": cronJob,
  "/PodTemplate": podTemplate,
  "apps/ControllerRevision": controllerRevision,
  "autoscaling/HorizontalPodAutoscaler": horizontalPodAutoscaler,
};
