// The rules of FlowSchemas.

import { jsonEqual, type Json, type JsonObject } from "@keelson/base";

import { printShape, struct } from "../../../go-text/struct-text.ts";
import {
  flagOf,
  has,
  maybeObject,
  numberOf,
  objectOf,
  objectsOf,
  textOf,
  textsOf,
} from "../../../object/members.ts";
import { dnsLabelProblems, dnsSubdomainProblems } from "../../../object/names.ts";
import type { KindRules } from "../../kind-rules.ts";
import { Place } from "../place.ts";
import { statusErrors } from "./conditions.ts";

const precedenceMax = 10_000;
const distinguishers = ["ByNamespace", "ByUser"];
const subjectKinds = ["Group", "ServiceAccount", "User"];
const verbs = [
  "create",
  "delete",
  "deletecollection",
  "get",
  "list",
  "patch",
  "proxy",
  "update",
  "watch",
];

export const flowSchema: KindRules = {
  validate: (object) => {
    const at = Place.root("spec");
    const name = textOf(objectOf(object, "metadata"), "name");
    const spec = objectOf(object, "spec");
    checkSpec(spec, at, name);
    const fixed = fixedSpecs.get(name);
    if (fixed !== undefined && !jsonEqual(spec, fixed)) {
      const detail = `spec of '${name}' must equal the fixed value`;
      at.invalidShown(printShape(specShape, spec), detail);
    }
    return [...at.errors, ...statusErrors(object)];
  },
  validateStatusUpdate: statusErrors,
};

function checkSpec(spec: JsonObject, at: Place, name: string): void {
  const precedence = numberOf(spec, "matchingPrecedence");
  const place = at.child("matchingPrecedence");
  if (precedence <= 0) place.invalid(precedence, "must be a positive value");
  if (precedence > precedenceMax) {
    place.invalid(precedence, `must not be greater than ${precedenceMax}`);
  }
  if (precedence === 1 && name !== "exempt") {
    place.invalid(precedence, "only the schema named 'exempt' may have matchingPrecedence 1");
  }
  const method = maybeObject(spec, "distinguisherMethod");
  if (method !== undefined && !distinguishers.includes(textOf(method, "type"))) {
    const shown = printShape(struct("Type type string"), method);
    at.child("distinguisherMethod").child("type").notSupportedShown(shown, distinguishers);
  }
  const level = textOf(objectOf(spec, "priorityLevelConfiguration"), "name");
  const levelPlace = at.child("priorityLevelConfiguration").child("name");
  if (level === "") levelPlace.required("must reference a priority level");
  else levelPlace.invalidEach(level, dnsSubdomainProblems(level));
  for (const [index, rule] of objectsOf(spec, "rules").entries()) {
    checkRule(rule, at.child("rules").item(index));
  }
}

function checkRule(rule: JsonObject, at: Place): void {
  const subjects = objectsOf(rule, "subjects");
  if (subjects.length === 0) {
    at.child("subjects").required("subjects must contain at least one value");
  }
  for (const [index, subject] of subjects.entries()) {
    checkSubject(subject, at.child("subjects").item(index));
  }
  const resources = objectsOf(rule, "resourceRules");
  const others = objectsOf(rule, "nonResourceRules");
  if (resources.length === 0 && others.length === 0) {
    at.required("at least one of resourceRules and nonResourceRules has to be non-empty");
  }
  for (const [index, one] of resources.entries()) {
    checkResourceRule(one, at.child("resourceRules").item(index));
  }
  for (const [index, one] of others.entries()) {
    checkNonResourceRule(one, at.child("nonResourceRules").item(index));
  }
}

const subjectFields = [
  ["ServiceAccount", "serviceAccount"],
  ["User", "user"],
  ["Group", "group"],
] as const;

function checkSubject(subject: JsonObject, at: Place): void {
  const kind = textOf(subject, "kind");
  const own = subjectFields.find(([name]) => name === kind);
  if (own === undefined) {
    at.child("kind").notSupported(kind, subjectKinds);
    return;
  }
  const [, field] = own;
  const place = at.child(field);
  const value = maybeObject(subject, field);
  if (value === undefined) place.required(`${field} is required when subject kind is '${kind}'`);
  else if (kind === "ServiceAccount") checkAccount(value, place);
  else if (textOf(value, "name") === "") place.child("name").required();
  for (const [name, other] of subjectFields) {
    if (name === kind || !has(subject, other)) continue;
    at.child(other).forbidden(`${other} is forbidden when subject kind is not '${name}'`);
  }
}

function checkAccount(account: JsonObject, at: Place): void {
  const [name, namespace] = [textOf(account, "name"), textOf(account, "namespace")];
  if (name === "") at.child("name").required();
  else if (name !== "*") at.child("name").invalidEach(name, dnsSubdomainProblems(name));
  if (namespace === "") {
    at.child("namespace").required("must specify namespace for service account");
  } else at.child("namespace").invalidEach(namespace, dnsLabelProblems(namespace));
}

function checkVerbs(list: readonly string[], at: Place): void {
  if (list.length === 0) at.required("verbs must contain at least one value");
  else if (list.includes("*")) {
    if (list.length > 1) at.invalid(list, "if '*' is present, must not specify other verbs");
  } else if (!list.every((verb) => verbs.includes(verb))) {
    at.notSupported(list, verbs);
  }
}

function checkResourceRule(rule: JsonObject, at: Place): void {
  checkVerbs(textsOf(rule, "verbs"), at.child("verbs"));
  const named = { apiGroups: "api group", resources: "resource" } as const;
  for (const [name, one] of Object.entries(named)) {
    const list = textsOf(rule, name);
    if (list.length === 0) {
      at.child(name).required(`resource rules must supply at least one ${one}`);
    } else if (list.length > 1 && list.includes("*")) {
      at.child(name).invalid(list, `if '*' is present, must not specify other ${one}s`);
    }
  }
  const namespaces = textsOf(rule, "namespaces");
  const place = at.child("namespaces");
  if (namespaces.length === 0 && !flagOf(rule, "clusterScope")) {
    const detail = "resource rules that are not cluster scoped must supply at least one namespace";
    place.required(detail);
  } else if (namespaces.includes("*")) {
    if (namespaces.length > 1) {
      place.invalid(namespaces, "if '*' is present, must not specify other namespaces");
    }
  } else {
    const intro = "each member of this list must be '*' or a DNS-1123 label; ";
    for (const [index, namespace] of namespaces.entries()) {
      const problems = dnsLabelProblems(namespace).map((problem) => intro + problem);
      place.item(index).invalidEach(namespace, problems);
    }
  }
}

function checkNonResourceRule(rule: JsonObject, at: Place): void {
  checkVerbs(textsOf(rule, "verbs"), at.child("verbs"));
  const urls = textsOf(rule, "nonResourceURLs");
  const place = at.child("nonResourceURLs");
  if (urls.length === 0) place.required("nonResourceURLs must contain at least one value");
  else if (urls.includes("*")) {
    if (urls.length > 1) {
      place.invalid(urls, "if '*' is present, must not specify other non-resource URLs");
    }
  } else {
    for (const [index, url] of urls.entries()) {
      const problem = urlProblem(url);
      if (problem !== undefined) place.item(index).invalid(url, problem);
    }
  }
}

function urlProblem(url: string): string | undefined {
  if (url === "") return "must not be empty";
  if (url === "/") return undefined;
  if (!url.startsWith("/")) return "must start with slash";
  if (url.includes(" ")) return "must not contain white-space";
  if (url.includes("//")) return "must not contain double slash";
  const wildcards = url.split("*").length - 1;
  const isSuffix = wildcards === 0 || (wildcards === 1 && url.endsWith("/*"));
  return isSuffix ? undefined : "wildcard can only do suffix matching";
}

/** What these schemas are, and nothing else. */
const fixedSpecs: ReadonlyMap<string, Json> = new Map([
  ["exempt", fixedSpec({ level: "exempt", precedence: 1, groups: ["system:masters"] })],
  [
    "catch-all",
    fixedSpec({
      level: "catch-all",
      precedence: 10_000,
      method: "ByUser",
      groups: ["system:unauthenticated", "system:authenticated"],
    }),
  ],
]);

function fixedSpec({
  level,
  precedence,
  method,
  groups,
}: {
  readonly level: string;
  readonly precedence: number;
  readonly method?: string;
  readonly groups: readonly string[];
}): Json {
  const all = ["*"];
  return {
    priorityLevelConfiguration: { name: level },
    matchingPrecedence: precedence,
    ...(method === undefined ? {} : { distinguisherMethod: { type: method } }),
    rules: [
      {
        subjects: groups.map((name) => ({ kind: "Group", group: { name } })),
        resourceRules: [
          { verbs: all, apiGroups: all, resources: all, clusterScope: true, namespaces: all },
        ],
        nonResourceRules: [{ verbs: all, nonResourceURLs: all }],
      },
    ],
  };
}

const named = struct("Name name string");
const specShape = struct(
  `PriorityLevelConfiguration priorityLevelConfiguration named
  MatchingPrecedence matchingPrecedence number
  DistinguisherMethod distinguisherMethod *method
  Rules rules []rule`,
  {
    named: () => named,
    method: () => struct("Type type string"),
    rule: () =>
      struct(
        `Subjects subjects []subject
        ResourceRules resourceRules []resource
        NonResourceRules nonResourceRules []other`,
        {
          subject: () =>
            struct(
              `Kind kind string
              User user *named
              Group group *named
              ServiceAccount serviceAccount *account`,
              {
                named: () => named,
                account: () => struct("Namespace namespace string\nName name string"),
              },
            ),
          resource: () =>
            struct(
              `Verbs verbs []string
              APIGroups apiGroups []string
              Resources resources []string
              ClusterScope clusterScope boolean
              Namespaces namespaces []string`,
            ),
          other: () => struct("Verbs verbs []string\nNonResourceURLs nonResourceURLs []string"),
        },
      ),
  },
);
