// The cells of what configures the API server itself.

import type { Json } from "@keelson/base";
import {
  age,
  at,
  conditionStatus,
  count,
  list,
  nameOf,
  orElse,
  text,
  type CellsOf,
} from "./reading.ts";

const counted =
  (...path: readonly string[]): CellsOf =>
  (subject) => [nameOf(subject), list(subject.object, ...path).length, age(subject)];

const policy =
  (field: string): CellsOf =>
  (subject) => {
    const spec = at(subject.object, "spec");
    const param = at(spec, "paramKind");
    const shown =
      param === undefined ? "<unset>" : `${text(param, "apiVersion")}/${text(param, "kind")}`;
    return [nameOf(subject), list(spec, field).length, shown, age(subject)];
  };

const policyBinding: CellsOf = (subject) => {
  const spec = at(subject.object, "spec");
  const name = text(spec, "paramRef", "name");
  const inNamespace = orElse(text(spec, "paramRef", "namespace"), "*");
  return [
    nameOf(subject),
    text(spec, "policyName"),
    name === "" ? "<unset>" : `${inNamespace}/${name}`,
    age(subject),
  ];
};

const flowSchema: CellsOf = (subject) => {
  const { object } = subject;
  return [
    nameOf(subject),
    text(object, "spec", "priorityLevelConfiguration", "name"),
    count(object, "spec", "matchingPrecedence"),
    orElse(text(object, "spec", "distinguisherMethod", "type"), "<none>"),
    age(subject),
    orElse(conditionStatus(object, "Dangling"), "?"),
  ];
};

const priorityLevel: CellsOf = (subject) => {
  const spec = at(subject.object, "spec");
  const limited = at(spec, "limited");
  const queuing = at(limited, "limitResponse", "queuing");
  const shown = (value: Json | undefined, name: string): Json =>
    value === undefined ? "<none>" : count(value, name);
  return [
    nameOf(subject),
    text(spec, "type"),
    shown(limited, "nominalConcurrencyShares"),
    shown(queuing, "queues"),
    shown(queuing, "handSize"),
    shown(queuing, "queueLengthLimit"),
    age(subject),
  ];
};

const apiService: CellsOf = (subject) => {
  const { object } = subject;
  const service = at(object, "spec", "service");
  const condition = list(object, "status", "conditions").find(
    (item) => text(item, "type") === "Available",
  );
  const status = orElse(text(condition, "status"), "Unknown");
  const why = text(condition, "reason");
  return [
    nameOf(subject),
    service === undefined ? "Local" : `${text(service, "namespace")}/${text(service, "name")}`,
    status === "True" || condition === undefined ? status : `${status} (${why})`,
    age(subject),
  ];
};

export const apiCells: Readonly<Record<string, CellsOf>> = {
  "admissionregistration.k8s.io/MutatingWebhookConfiguration": counted("webhooks"),
  "admissionregistration.k8s.io/ValidatingWebhookConfiguration": counted("webhooks"),
  "admissionregistration.k8s.io/ValidatingAdmissionPolicy": policy("validations"),
  "admissionregistration.k8s.io/MutatingAdmissionPolicy": policy("mutations"),
  "admissionregistration.k8s.io/ValidatingAdmissionPolicyBinding": policyBinding,
  "admissionregistration.k8s.io/MutatingAdmissionPolicyBinding": policyBinding,
  "flowcontrol.apiserver.k8s.io/FlowSchema": flowSchema,
  "flowcontrol.apiserver.k8s.io/PriorityLevelConfiguration": priorityLevel,
  "apiregistration.k8s.io/APIService": apiService,
};
