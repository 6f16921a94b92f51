// The cells of everything else: nodes, namespaces, configuration, events, access, quotas.

import type { Json, JsonObject } from "@keelson/base";
import { compareBytes } from "../../go-text/byte-order.ts";
import { trimSpace } from "../../go-text/trim-space.ts";
import { ageOf, humanDuration } from "../human-duration.ts";
import {
  age,
  at,
  conditionStatus,
  count,
  entries,
  isDeleted,
  list,
  nameOf,
  orElse,
  scalarText,
  text,
  type CellsOf,
  type Subject,
} from "./reading.ts";

const rolePrefix = "node-role.kubernetes.io/";

function nodeRoles(object: JsonObject): string {
  const roles = entries(object, "metadata", "labels").flatMap(([key, value]) => {
    if (key.startsWith(rolePrefix)) return [key.slice(rolePrefix.length)];
    return key === "kubernetes.io/role" && typeof value === "string" ? [value] : [];
  });
  return orElse(
    [...new Set(roles.filter((role) => role !== ""))].sort(compareBytes).join(","),
    "<none>",
  );
}

function nodeAddress(object: JsonObject, type: string): string {
  const found = list(object, "status", "addresses").find(
    (address) => text(address, "type") === type,
  );
  return found === undefined ? "<none>" : text(found, "address");
}

const node: CellsOf = (subject) => {
  const { object } = subject;
  const ready = conditionStatus(object, "Ready");
  const status = ready === "" ? "Unknown" : ready === "True" ? "Ready" : "NotReady";
  const isCordoned = at(object, "spec", "unschedulable") === true;
  const info = at(object, "status", "nodeInfo");
  const architecture = text(info, "architecture");
  const kernel = orElse(text(info, "kernelVersion"), "<unknown>");
  return [
    nameOf(subject),
    isCordoned ? `${status},SchedulingDisabled` : status,
    nodeRoles(object),
    age(subject),
    text(info, "kubeletVersion"),
    nodeAddress(object, "InternalIP"),
    nodeAddress(object, "ExternalIP"),
    orElse(text(info, "osImage"), "<unknown>"),
    architecture === "" ? kernel : `${kernel} (${architecture})`,
    orElse(text(info, "containerRuntimeVersion"), "<unknown>"),
  ];
};

const namespace: CellsOf = (subject) => [
  nameOf(subject),
  text(subject.object, "status", "phase"),
  age(subject),
];

const configMap: CellsOf = (subject) => {
  const { object } = subject;
  return [
    nameOf(subject),
    entries(object, "data").length + entries(object, "binaryData").length,
    age(subject),
  ];
};

const secret: CellsOf = (subject) => {
  const { object } = subject;
  return [nameOf(subject), text(object, "type"), entries(object, "data").length, age(subject)];
};

const nameAndAge: CellsOf = (subject) => [nameOf(subject), age(subject)];

/** Both shapes of an Event: core's and that of events.k8s.io. */
const event: CellsOf = (subject) => {
  const { object, nowMs } = subject;
  const isNew = text(object, "apiVersion").startsWith("events.k8s.io/");
  const pick = (core: string, other: string): Json | undefined => at(object, isNew ? other : core);
  const first = orElse(
    text(pick("firstTimestamp", "deprecatedFirstTimestamp")),
    text(object, "eventTime"),
  );
  const firstSeen = ageOf(first, nowMs);
  const last = text(pick("lastTimestamp", "deprecatedLastTimestamp"));
  const series = at(object, "series");
  const times = count(pick("count", "deprecatedCount"));
  const target = pick("involvedObject", "regarding");
  const kind = text(target, "kind").toLowerCase();
  const name = text(target, "name");
  const source = pick("source", "deprecatedSource");
  const component = orElse(
    text(source, "component"),
    text(pick("reportingComponent", "reportingController")),
  );
  const instance = orElse(text(source, "host"), text(object, "reportingInstance"));
  return [
    series !== undefined
      ? ageOf(text(series, "lastObservedTime"), nowMs)
      : last === ""
        ? firstSeen
        : ageOf(last, nowMs),
    text(object, "type"),
    text(object, "reason"),
    name === "" ? kind : `${kind}/${name}`,
    text(target, "fieldPath"),
    instance === "" ? component : `${component}, ${instance}`,
    trimSpace(text(pick("message", "note"))),
    firstSeen,
    series !== undefined ? count(series, "count") : times === 0 ? 1 : times,
    nameOf(subject),
  ];
};

const binding: CellsOf = (subject) => {
  const { object } = subject;
  const subjects = list(object, "subjects");
  const named = (kind: string): string[] =>
    subjects.filter((one) => text(one, "kind") === kind).map((one) => text(one, "name"));
  const accounts = subjects
    .filter((one) => text(one, "kind") === "ServiceAccount")
    .map((one) => `${text(one, "namespace")}/${text(one, "name")}`);
  return [
    nameOf(subject),
    `${text(object, "roleRef", "kind")}/${text(object, "roleRef", "name")}`,
    age(subject),
    named("User").join(", "),
    named("Group").join(", "),
    accounts.join(", "),
  ];
};

const resourceQuota: CellsOf = (subject) => {
  const { object } = subject;
  const all = entries(object, "status", "hard").map(([resource, hard]) => {
    const used = orElse(text(object, "status", "used", resource), "0");
    return { resource, words: `${resource}: ${used}/${scalarText(hard)}` };
  });
  const isLimit = (resource: string): boolean => resource.startsWith("limits.");
  const column = (wanted: boolean): string =>
    all
      .filter(({ resource }) => isLimit(resource) === wanted)
      .map(({ words }) => words)
      .join(", ");
  return [nameOf(subject), column(false), column(true), age(subject)];
};

const podDisruptionBudget: CellsOf = (subject) => {
  const { object } = subject;
  const limit = (name: string): string => {
    const value = at(object, "spec", name);
    return value === undefined ? "N/A" : scalarText(value);
  };
  return [
    nameOf(subject),
    limit("minAvailable"),
    limit("maxUnavailable"),
    count(object, "status", "disruptionsAllowed"),
    age(subject),
  ];
};

const priorityClass: CellsOf = (subject) => {
  const { object } = subject;
  return [
    nameOf(subject),
    count(object, "value"),
    at(object, "globalDefault") === true,
    age(subject),
    text(object, "preemptionPolicy"),
  ];
};

const lease: CellsOf = (subject) => [
  nameOf(subject),
  text(subject.object, "spec", "holderIdentity"),
  age(subject),
];

const leaseCandidate: CellsOf = (subject) => {
  const spec = at(subject.object, "spec");
  return [
    nameOf(subject),
    text(spec, "leaseName"),
    text(spec, "binaryVersion"),
    text(spec, "emulationVersion"),
    age(subject),
  ];
};

function requestStatus(object: JsonObject): string {
  const has = (type: string): boolean =>
    list(object, "status", "conditions").some((item) => text(item, "type") === type);
  const decision = has("Denied") ? "Denied" : has("Approved") ? "Approved" : "Pending";
  const failed = has("Failed") ? ",Failed" : "";
  return `${decision}${failed}${text(object, "status", "certificate") === "" ? "" : ",Issued"}`;
}

const certificateSigningRequest: CellsOf = (subject) => {
  const { object } = subject;
  const seconds = at(object, "spec", "expirationSeconds");
  return [
    nameOf(subject),
    age(subject),
    orElse(text(object, "spec", "signerName"), "<none>"),
    text(object, "spec", "username"),
    seconds === undefined ? "<none>" : humanDuration(Number(seconds) * 1000),
    requestStatus(object),
  ];
};

const clusterTrustBundle: CellsOf = (subject) => [
  nameOf(subject),
  orElse(text(subject.object, "spec", "signerName"), "<none>"),
];

const runtimeClass: CellsOf = (subject) => [
  nameOf(subject),
  text(subject.object, "handler"),
  age(subject),
];

const resourceClaim: CellsOf = (subject) => {
  const { object } = subject;
  const states = isDeleted(subject) ? ["deleted"] : [];
  if (at(object, "status", "allocation") !== undefined) {
    states.push("allocated");
    if (list(object, "status", "reservedFor").length > 0) states.push("reserved");
  } else if (!isDeleted(subject)) {
    states.push("pending");
  }
  return [nameOf(subject), states.join(","), age(subject)];
};

const resourceSlice: CellsOf = (subject) => {
  const spec = at(subject.object, "spec");
  return [
    nameOf(subject),
    text(spec, "nodeName"),
    text(spec, "driver"),
    text(spec, "pool", "name"),
    age(subject),
  ];
};

const storageVersion: CellsOf = (subject) => {
  const { object } = subject;
  const versions = list(object, "status", "storageVersions").map(
    (one) => `${text(one, "apiServerID")}=${text(one, "encodingVersion")}`,
  );
  const shown = versions.slice(0, 3).join(",");
  return [
    nameOf(subject),
    orElse(text(object, "status", "commonEncodingVersion"), "<unset>"),
    versions.length > 3 ? `${shown} + ${versions.length - 3} more...` : orElse(shown, "<unset>"),
    age(subject),
  ];
};

const storageVersionMigration: CellsOf = (subject) => {
  const { object } = subject;
  const resource = text(object, "spec", "resource", "resource");
  const group = text(object, "spec", "resource", "group");
  const states = ["Running", "Failed", "Succeeded"];
  const found = list(object, "status", "conditions").findLast(
    (item) => states.includes(text(item, "type")) && text(item, "status") === "True",
  );
  return [
    nameOf(subject),
    group === "" ? resource : `${resource}.${group}`,
    orElse(text(found, "type"), "Unknown"),
  ];
};

const componentStatus: CellsOf = (subject) => {
  const found = list(subject.object, "conditions").find((item) => text(item, "type") === "Healthy");
  const status =
    found === undefined ? "Unknown" : text(found, "status") === "True" ? "Healthy" : "Unhealthy";
  return [nameOf(subject), status, text(found, "message"), text(found, "error")];
};

/** Kinds without columns of their own show when they were made. */
export function plainCells({ object }: Subject): readonly Json[] {
  return [text(object, "metadata", "name"), text(object, "metadata", "creationTimestamp")];
}

export const clusterCells: Readonly<Record<string, CellsOf>> = {
  "/Node": node,
  "/Namespace": namespace,
  "/ConfigMap": configMap,
  "/Secret": secret,
  "/ServiceAccount": nameAndAge,
  "/Event": event,
  "events.k8s.io/Event": event,
  "/ResourceQuota": resourceQuota,
  "/ComponentStatus": componentStatus,
  "rbac.authorization.k8s.io/RoleBinding": binding,
  "rbac.authorization.k8s.io/ClusterRoleBinding": binding,
  "policy/PodDisruptionBudget": podDisruptionBudget,
  "scheduling.k8s.io/PriorityClass": priorityClass,
  "coordination.k8s.io/Lease": lease,
  "coordination.k8s.io/LeaseCandidate": leaseCandidate,
  "certificates.k8s.io/CertificateSigningRequest": certificateSigningRequest,
  "certificates.k8s.io/ClusterTrustBundle": clusterTrustBundle,
  "node.k8s.io/RuntimeClass": runtimeClass,
  "resource.k8s.io/DeviceClass": nameAndAge,
  "resource.k8s.io/ResourceClaim": resourceClaim,
  "resource.k8s.io/ResourceClaimTemplate": nameAndAge,
  "resource.k8s.io/ResourceSlice": resourceSlice,
  "internal.apiserver.k8s.io/StorageVersion": storageVersion,
  "storagemigration.k8s.io/StorageVersionMigration": storageVersionMigration,
};
