// How an object is doing, by its own status: the rules of kstatus, as the contract lists them.

import { isJsonArray, isJsonObject, type Json, type JsonObject } from "@keelson/base";

export interface Health {
  readonly health: "Suspended" | "Degraded" | "Progressing" | "Healthy";
  /** Why, where there is something to say. */
  readonly message: string | null;
}

/** Of an object that is there. */
export function healthOf(object: JsonObject): Health {
  const view = new View(object);
  return (
    suspended(view) ?? degraded(view) ?? progressing(view) ?? { health: "Healthy", message: null }
  );
}

/** An object with its status at hand. */
class View {
  readonly id: string;
  readonly metadata: JsonObject;
  readonly spec: JsonObject;
  readonly status: JsonObject;
  readonly conditions: ReadonlyMap<string, JsonObject>;

  constructor(object: JsonObject) {
    const { apiVersion, kind } = object;
    const group = typeof apiVersion === "string" ? apiVersion.split("/").at(-2) : "";
    this.id = `${group ?? ""}/${typeof kind === "string" ? kind : ""}`;
    this.metadata = member(object, "metadata");
    this.spec = member(object, "spec");
    this.status = member(object, "status");
    const { conditions } = this.status;
    const list = isJsonArray(conditions) ? conditions.filter(isJsonObject) : [];
    this.conditions = new Map(list.map((one) => [text(one["type"]), one]));
  }

  is(type: string, status: "True" | "False"): boolean {
    return this.conditions.get(type)?.["status"] === status;
  }

  /** What a condition says of itself. */
  says(type: string): string {
    const condition = this.conditions.get(type);
    return text(condition?.["message"]) || text(condition?.["reason"]) || type;
  }

  number(where: "spec" | "status", name: string): number | undefined {
    const value = this[where][name];
    return typeof value === "number" ? value : undefined;
  }
}

function suspended({ id, spec }: View): Health | undefined {
  const isPaused = id === "apps/Deployment" && spec["paused"] === true;
  const isSuspended = (id === "batch/Job" || id === "batch/CronJob") && spec["suspend"] === true;
  return isPaused || isSuspended ? { health: "Suspended", message: null } : undefined;
}

function degraded(view: View): Health | undefined {
  const { id, conditions, status } = view;
  const bad = (message: string): Health => ({ health: "Degraded", message });
  if (id === "apps/Deployment") {
    const reason = conditions.get("Progressing")?.["reason"];
    if (reason === "ProgressDeadlineExceeded") return bad(view.says("Progressing"));
    if (view.is("ReplicaFailure", "True")) return bad(view.says("ReplicaFailure"));
  }
  if (id === "batch/Job" && view.is("Failed", "True")) return bad(view.says("Failed"));
  if (id === "/Pod") {
    if (status["phase"] === "Failed") return bad(text(status["message"]) || "the Pod failed");
    const stuck = waitingReasons(status).find((reason) =>
      ["CrashLoopBackOff", "ImagePullBackOff", "ErrImagePull"].includes(reason),
    );
    if (stuck !== undefined) return bad(stuck);
  }
  if (id === "/PersistentVolumeClaim" && status["phase"] === "Lost")
    return bad("the claim is lost");
  if (id === "apiextensions.k8s.io/CustomResourceDefinition" && view.is("NamesAccepted", "False")) {
    return bad(view.says("NamesAccepted"));
  }
  return view.is("Stalled", "True") ? bad(view.says("Stalled")) : undefined;
}

function progressing(view: View): Health | undefined {
  const { id, metadata, status } = view;
  const busy = (message: string): Health => ({ health: "Progressing", message });
  if (metadata["deletionTimestamp"] !== undefined) return busy("it is being deleted");
  const seen = view.number("status", "observedGeneration");
  const generation = metadata["generation"];
  if (seen !== undefined && typeof generation === "number" && seen < generation) {
    return busy("its controller has not looked at the last change");
  }
  const replicas = replicasBehind(view);
  if (replicas !== undefined) return busy(replicas);
  if (id === "batch/Job" && !view.is("Complete", "True")) return busy("the Job runs");
  if (id === "/Pod") {
    // One that has done its work is ready no more, and will not be again.
    const isWell = status["phase"] === "Succeeded" || view.is("Ready", "True");
    return isWell ? undefined : busy("the Pod is not ready");
  }
  if (id === "/PersistentVolumeClaim" && status["phase"] !== "Bound") {
    return busy("the claim is not bound");
  }
  if (id === "/Service" && view.spec["type"] === "LoadBalancer" && !hasAddress(status)) {
    return busy("the load balancer has no address");
  }
  if (id === "apiextensions.k8s.io/CustomResourceDefinition" && !view.is("Established", "True")) {
    return busy("the definition is not established");
  }
  if (view.is("Ready", "False")) return busy(view.says("Ready"));
  return view.is("Reconciling", "True") ? busy(view.says("Reconciling")) : undefined;
}

/** What of its replicas is not there yet. */
function replicasBehind(view: View): string | undefined {
  const { id } = view;
  const has = (name: string): number => view.number("status", name) ?? 0;
  if (id === "apps/DaemonSet") {
    const wanted = view.number("status", "desiredNumberScheduled");
    if (wanted === undefined) return "nothing is scheduled yet";
    if (has("updatedNumberScheduled") < wanted) return "not all Pods are updated";
    return has("numberAvailable") < wanted ? "not all Pods are available" : undefined;
  }
  const isSet = id === "apps/Deployment" || id === "apps/StatefulSet" || id === "apps/ReplicaSet";
  if (!isSet) return undefined;
  const wanted = view.number("spec", "replicas") ?? 1;
  if (view.number("status", "observedGeneration") === undefined) return "no status yet";
  const strategy = member(view.spec, "updateStrategy");
  // Of such a StatefulSet somebody deletes the Pods when it suits them: nothing is under way.
  if (id === "apps/StatefulSet" && strategy["type"] === "OnDelete") return undefined;
  const { partition } = member(strategy, "rollingUpdate");
  const isHeldBack = id === "apps/StatefulSet" && typeof partition === "number";
  const fresh = isHeldBack ? Math.max(0, wanted - partition) : wanted;
  if (id !== "apps/ReplicaSet" && has("updatedReplicas") < fresh) {
    return `${has("updatedReplicas")} of ${fresh} replicas are updated`;
  }
  const old = has("replicas") - wanted;
  if (old > 0) return old === 1 ? "one old replica is to go" : `${old} old replicas are to go`;
  const available = view.number("status", "availableReplicas") ?? has("readyReplicas");
  return available < wanted ? `${available} of ${wanted} replicas are available` : undefined;
}

function waitingReasons(status: JsonObject): readonly string[] {
  return ["containerStatuses", "initContainerStatuses"].flatMap((name) => {
    const statuses = status[name];
    return (isJsonArray(statuses) ? statuses.filter(isJsonObject) : []).map((one) =>
      text(member(member(one, "state"), "waiting")["reason"]),
    );
  });
}

function hasAddress(status: JsonObject): boolean {
  const { ingress } = member(status, "loadBalancer");
  return isJsonArray(ingress) && ingress.length > 0;
}

function member(object: JsonObject, name: string): JsonObject {
  const value = Object.hasOwn(object, name) ? object[name] : undefined;
  return isJsonObject(value) ? value : {};
}

function text(value: Json | undefined): string {
  return typeof value === "string" ? value : "";
}
