// The account of the operator's chart before a real Kubernetes: what it is granted, and what it asks for, by the audit log.

import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

export const operatorNamespace = "plattr-system";
export const accountName = `system:serviceaccount:${operatorNamespace}:plattr-operator`;

/** `apps deployments patch`; of the core group `"" secrets get`. */
export type Right = string;

interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
}

/** What the rules of Roles grant. */
export function rightsOf(rules: readonly Rule[]): ReadonlySet<Right> {
  return new Set(
    rules.flatMap(({ apiGroups, resources, verbs }) =>
      apiGroups.flatMap((group) =>
        resources.flatMap((resource) => verbs.map((verb) => rightText(group, resource, verb))),
      ),
    ),
  );
}

function rightText(group: string, resource: string, verb: string): Right {
  return `${group === "" ? '""' : group} ${resource} ${verb}`;
}

/** A request of the account, as it was judged. */
export interface Asked {
  readonly code: number;
  readonly what: string;
  readonly rights: readonly Right[];
}

/** What kube-apiserver writes down of every request of the account. */
export class AccountAudit {
  readonly #log: string;
  readonly #policy: string;

  private constructor(folder: string) {
    this.#log = join(folder, "audit.log");
    this.#policy = join(folder, "audit-policy.json");
  }

  static async in(folder: string): Promise<AccountAudit> {
    const audit = new AccountAudit(folder);
    const policy = {
      apiVersion: "audit.k8s.io/v1",
      kind: "Policy",
      omitStages: ["RequestReceived"],
      rules: [{ level: "Metadata", users: [accountName] }, { level: "None" }],
    };
    await writeFile(audit.#policy, JSON.stringify(policy));
    await writeFile(audit.#log, "");
    return audit;
  }

  get flags(): readonly string[] {
    return [`--audit-policy-file=${this.#policy}`, `--audit-log-path=${this.#log}`];
  }

  async asked(): Promise<readonly Asked[]> {
    const lines = (await readFile(this.#log, "utf8")).split("\n").slice(0, -1);
    return lines.map(askedIn);
  }
}

function askedIn(line: string): Asked {
  const { verb, requestURI, objectRef, responseStatus } = JSON.parse(line) as {
    verb: string;
    requestURI: string;
    objectRef?: { apiGroup?: string; resource?: string; subresource?: string };
    responseStatus?: { code?: number };
  };
  const { apiGroup = "", resource, subresource } = objectRef ?? {};
  const code = responseStatus?.code ?? 0;
  const what = `${verb} ${requestURI}: ${code}`;
  if (resource === undefined) return { code, what, rights: [] }; // Discovery.
  const full = subresource === undefined ? resource : `${resource}/${subresource}`;
  // An apply that makes the object must be allowed to create it, too.
  const verbs = verb === "patch" && code === 201 ? ["patch", "create"] : [verb];
  return { code, what, rights: verbs.map((one) => rightText(apiGroup, full, one)) };
}

/** Nothing was refused, and nothing is granted that is neither asked for nor explained. */
export function assertRights(
  granted: ReadonlySet<Right>,
  asked: readonly Asked[],
  unasked: Readonly<Record<Right, string>>,
): void {
  assert.deepEqual(
    asked.filter(({ code }) => code === 401 || code === 403).map(({ what }) => what),
    [],
  );
  const used = new Set(asked.flatMap(({ rights }) => rights).flatMap(withFallback));
  assert.deepEqual(
    [...granted].filter((right) => !used.has(right) && unasked[right] === undefined),
    [],
    "granted, and never asked for",
  );
  assert.deepEqual(
    Object.keys(unasked).filter((right) => !granted.has(right)),
    [],
    "explained, and not granted",
  );
}

/** A server that cannot tell within a watch what is there is asked for a list: every kind that is cached. Leases are not. */
function withFallback(right: Right): readonly Right[] {
  const isCached = right.endsWith(" watch") && !right.includes(" leases ");
  return isCached ? [right, right.replace(/watch$/, "list")] : [right];
}
