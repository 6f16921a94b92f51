// Requests of tests, each with what is expected of it.

import assert from "node:assert/strict";

import type { HttpClient, Request, Response } from "../tools/http-client.ts";
import { until } from "../tools/until.ts";
import type { Bed } from "./bed.ts";

/** Sends a request that must have this answer, once the host passes it on and answers what we ask it. */
export async function expectStatus(
  client: HttpClient,
  request: Request,
  status: number,
  signal: AbortSignal,
): Promise<Response> {
  const { method = "GET", path } = request;
  const answer = await until(
    async () => {
      const one = await client.send(request, signal);
      return (one.status === status || !isHeldBack(one)) && one;
    },
    signal,
    `${method} ${path} to be answered by more than an excuse of the host`,
  );
  assert.equal(answer.status, status, `${method} ${path} answered ${answer.text.slice(0, 500)}`);
  return answer;
}

/**
 * Whether nothing was done because the host and we did not hear of each other for seconds, which happens on a busy machine. It calls us
 * away then, passes requests on to nobody, and looks again by itself; what it says of that is no Status. Where it does not answer
 * what we ask it of a request, we say so in ours.
 */
export function isHeldBack(answer: Response): boolean {
  const { status, body } = answer;
  if (status !== 503) return false;
  return body === undefined || messageOf(answer).startsWith("the host cluster is away: ");
}

/** Creates an object through the host, as admin. */
export async function create(
  { oracle }: Bed,
  path: string,
  body: object,
  signal: AbortSignal,
): Promise<Response> {
  return await expectStatus(oracle.client, { method: "POST", path, body }, 201, signal);
}

/** Runs kubectl at the host, as admin; it must succeed. */
export async function kubectl(
  { oracle }: Bed,
  words: readonly string[],
  signal: AbortSignal,
): Promise<string> {
  const { code, stdout, stderr } = await oracle.kubectl(words, signal);
  assert.equal(code, 0, `kubectl ${words.join(" ")}: ${stdout}${stderr}`);
  return stdout;
}

/** The message of a Status. */
export function messageOf({ body }: Response): string {
  const { message } = body as { readonly message?: string };
  return message ?? "";
}

/** A token of a service account that the host knows, and that may nothing. */
export async function newToken(bed: Bed, name: string, signal: AbortSignal): Promise<string> {
  const accounts = "/api/v1/namespaces/default/serviceaccounts";
  await create(bed, accounts, { metadata: { name } }, signal);
  const { body } = await create(
    bed,
    `${accounts}/${name}/token`,
    { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: {} },
    signal,
  );
  return (body as { status: { token: string } }).status.token;
}

/** Lets a user do these things to everything of our group, in all namespaces. */
export async function grant(
  bed: Bed,
  { user, verbs }: { readonly user: string; readonly verbs: readonly string[] },
  signal: AbortSignal,
): Promise<void> {
  const rbac = "/apis/rbac.authorization.k8s.io/v1";
  const rules = [{ apiGroups: ["ark.mckinsey.com"], resources: ["*"], verbs }];
  await create(bed, `${rbac}/clusterroles`, { metadata: { name: user }, rules }, signal);
  const apiGroup = "rbac.authorization.k8s.io";
  const binding = {
    metadata: { name: user },
    subjects: [{ kind: "User", apiGroup, name: user }],
    roleRef: { kind: "ClusterRole", apiGroup, name: user },
  };
  await create(bed, `${rbac}/clusterrolebindings`, binding, signal);
}
