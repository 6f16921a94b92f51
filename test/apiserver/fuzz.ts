// Requests that no client would send: whatever they are, the answer is no 500, comes in time, and the process lives.

import { once } from "node:events";
import { connect, type TLSSocket } from "node:tls";

import { seededRandom, type Json, type Random } from "@keelson/base";

import { configMap, deployment, definition, pod } from "./objects.ts";
import type { Target } from "./target.ts";
import { Wire, type WireRequest } from "../tools/wire.ts";

const answerMs = 60_000;
const rawMs = 2_000;

export interface FuzzOptions {
  readonly seed: string;
  readonly count: number;
  readonly concurrency?: number;
}

export interface FuzzFinding {
  readonly index: number;
  readonly request: string;
  readonly problem: string;
}

export interface FuzzResult {
  /** Whatever is wrong; nothing is what one wants. */
  readonly findings: readonly FuzzFinding[];
  /** How many requests had an answer: those that are no HTTP, or that a client does not send, have none. */
  readonly answered: number;
}

/** Sends them, several at once. */
export async function fuzz(
  target: Target,
  { seed, count, concurrency = 8 }: FuzzOptions,
  signal: AbortSignal,
): Promise<FuzzResult> {
  const { url, ca, admin } = target;
  using wire = new Wire({ url, ca, certificate: admin.certificate, key: admin.key });
  const findings: FuzzFinding[] = [];
  const corpus = corpusOf();
  let next = 0;
  let answered = 0;
  const worker = async (): Promise<void> => {
    while (next < count && findings.length < 50) {
      const index = next++;
      const random = seededRandom(`${seed}/${index}`);
      const request = index < corpus.length ? corpus[index] : generated(random);
      if (request === undefined) continue;
      const { isAnswered, problem } =
        "raw" in request
          ? await sendRaw(target, request.raw, signal)
          : await sendOne(wire, request, signal);
      if (isAnswered) answered += 1;
      if (problem !== undefined) findings.push({ index, request: describe(request), problem });
    }
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
  return { findings, answered };
}

interface Outcome {
  readonly isAnswered: boolean;
  readonly problem?: string;
}

type FuzzRequest = WireRequest | { readonly raw: Buffer };

async function sendOne(wire: Wire, request: WireRequest, signal: AbortSignal): Promise<Outcome> {
  const deadline = AbortSignal.any([signal, AbortSignal.timeout(answerMs)]);
  try {
    const { status, bytes } = await wire.send(request, deadline);
    if (status < 500 || status === 501 || status === 504) return { isAnswered: true };
    return { isAnswered: true, problem: `${status} ${bytes.toString("utf8").slice(0, 300)}` };
  } catch (error) {
    // A request that Node's client itself refuses was never sent.
    const { code = "" } = error as { code?: string };
    if (code.startsWith("ERR_")) return { isAnswered: false };
    if (deadline.aborted) return { isAnswered: false, problem: "no answer in time" };
    if (["ECONNRESET", "EPIPE", "HPE_INVALID_CONSTANT"].includes(code))
      return { isAnswered: false };
    return { isAnswered: false, problem: `broken: ${String(error)}` };
  }
}

/** Bytes as they are; an answer or the end of the connection is wanted, soon. */
async function sendRaw(
  { url, ca, admin }: Target,
  bytes: Buffer,
  signal: AbortSignal,
): Promise<Outcome> {
  const { hostname, port } = new URL(url);
  const socket: TLSSocket = connect({
    host: hostname,
    port: Number(port),
    ca,
    cert: admin.certificate,
    key: admin.key,
    ALPNProtocols: ["http/1.1"],
  });
  try {
    const deadline = AbortSignal.any([signal, AbortSignal.timeout(rawMs)]);
    socket.on("error", () => undefined);
    await once(socket, "secureConnect", { signal: deadline });
    socket.end(bytes);
    let answer = "";
    socket.setEncoding("utf8").on("data", (text: string) => (answer += text.slice(0, 2_000)));
    await once(socket, "close", { signal: deadline });
    const isAnswered = answer.startsWith("HTTP/1.1 ");
    if (!/^HTTP\/1\.1 5(?!01|04|05)/.test(answer)) return { isAnswered };
    return { isAnswered, problem: answer.slice(0, 300) };
  } catch {
    // Half a request is waited for until its own deadline, a minute later.
    return { isAnswered: false };
  } finally {
    socket.destroy();
  }
}

function describe(request: FuzzRequest): string {
  if ("raw" in request)
    return `raw ${JSON.stringify(request.raw.toString("latin1").slice(0, 200))}`;
  const body = Buffer.isBuffer(request.body)
    ? request.body.toString("hex")
    : JSON.stringify(request.body ?? "");
  return `${request.method ?? "GET"} ${request.path} ${JSON.stringify(request.headers ?? {})} ${body.slice(0, 600)}`;
}

const collections = [
  "/api/v1/namespaces/default/configmaps",
  "/api/v1/namespaces/default/pods",
  "/api/v1/namespaces/default/secrets",
  "/api/v1/namespaces/default/services",
  "/apis/apps/v1/namespaces/default/deployments",
  "/api/v1/namespaces",
  "/api/v1/nodes",
  "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
  "/apis/rbac.authorization.k8s.io/v1/clusterroles",
  "/apis/batch/v1/namespaces/default/jobs",
  "/apis/batch/v1/namespaces/default/cronjobs",
  "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers",
  "/apis/networking.k8s.io/v1/namespaces/default/ingresses",
  "/apis/coordination.k8s.io/v1/namespaces/default/leases",
  "/api/v1/namespaces/default/events",
  "/apis/events.k8s.io/v1/namespaces/default/events",
  "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
  "/apis/authentication.k8s.io/v1/tokenreviews",
  "/apis/policy/v1/namespaces/default/poddisruptionbudgets",
  "/apis/storage.k8s.io/v1/storageclasses",
  "/apis/certificates.k8s.io/v1/certificatesigningrequests",
  "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices",
  "/api/v1/namespaces/default/resourcequotas",
  "/api/v1/namespaces/default/serviceaccounts/default/token",
] as const;

const types = [
  "application/json",
  "application/yaml",
  "application/merge-patch+json",
  "application/json-patch+json",
  "application/strategic-merge-patch+json",
  "application/apply-patch+yaml",
  "application/vnd.kubernetes.protobuf",
  "text/plain",
  "application/cbor",
  "",
  'application/json; charset="',
  ";;;",
];

/** What has broken servers before. */
function corpusOf(): readonly FuzzRequest[] {
  const bodies: (Json | Buffer)[] = [
    "",
    "{",
    "[",
    "null",
    "0",
    '""',
    "{}",
    "[]",
    '{"a":',
    "\ufeff{}",
    '{"metadata":null}',
    '{"metadata":{"name":null}}',
    '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":{}}}',
    "[".repeat(200_000),
    `{"a":${'{"a":'.repeat(50_000)}1${"}".repeat(50_001)}`,
    "a: &a [*a, *a]",
    "a: &a [1]\nb: &b [*a,*a,*a]\nc: &c [*b,*b,*b]\nd: [*c,*c,*c,*c]\n",
    "!!js/function 'x'",
    "- ".repeat(20_000),
    "1e999999999",
    '{"spec":{"replicas":1e400}}',
    '{"spec":{"replicas":99999999999999999999999999}}',
    '{"data":{"a":"\\u0000"}}',
    '{"data":{"a":"\\ud800"}}',
    '{"__proto__":{"polluted":1}}',
    '{"constructor":{"prototype":{}}}',
    '{"metadata":{"labels":{"__proto__":"x"}}}',
    Buffer.from([0xff, 0xfe, 0x00]),
    Buffer.from("6b387300", "hex"),
    Buffer.from("6b3873000a0f0a0276311209436f6e6669674d6170", "hex"),
    Buffer.from(`6b387300${"ff".repeat(200)}`, "hex"),
    Buffer.alloc(1000),
    '[{"op":"move","from":"/a","path":"/a/b"}]',
    '[{"op":"copy","from":"","path":"/x"}]',
    '[{"op":"add","path":"/-","value":1}]',
    '[{"op":"remove","path":""}]',
    '[{"op":"test","path":"/","value":[null]}]',
    '[{"op":"add","path":"/metadata/labels/~2","value":1}]',
    "[null]",
    "[[]]",
    '{"$patch":"replace"}',
    '{"$patch":"delete"}',
    '{"spec":{"$patch":"delete"}}',
    '{"$setElementOrder/a":1}',
    '{"$retainKeys":1}',
    '{"metadata":{"$deleteFromPrimitiveList/finalizers":"x"}}',
    '{"spec":{"template":{"spec":{"containers":[null,1,"x",{}]}}}}',
    '{"spec":{"template":{"spec":{"$setElementOrder/containers":[null,1]}}}}',
    '{"metadata":{"managedFields":[null,1,{"fieldsV1":{"f:":1,"k:{":{}}}]}}',
    '{"metadata":{"managedFields":[{"manager":"a","operation":"Apply","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"k:{\\"x\\":":{},"v:":{},"i:x":{}}}]}}',
    '{"metadata":{"ownerReferences":[null]}}',
    '{"metadata":{"finalizers":[null]}}',
    '{"metadata":{"deletionTimestamp":"x"}}',
    '{"metadata":{"creationTimestamp":5}}',
  ];
  const requests: FuzzRequest[] = [];
  for (const body of bodies) {
    for (const type of types.slice(0, 7)) {
      const isPatch = type.includes("patch");
      requests.push({
        method: isPatch ? "PATCH" : "POST",
        path: isPatch
          ? "/api/v1/namespaces/default/configmaps/kube-root-ca.crt?fieldManager=f&dryRun=All"
          : "/api/v1/namespaces/default/configmaps?dryRun=All",
        body,
        headers: { "content-type": type },
      });
    }
    requests.push({ method: "DELETE", path: "/api/v1/namespaces/default/configmaps/none", body });
    requests.push({
      method: "PATCH",
      path: "/apis/apps/v1/namespaces/default/deployments/fuzz?fieldManager=f",
      body,
      headers: { "content-type": "application/strategic-merge-patch+json" },
    });
  }
  const tokens = [
    "e30",
    "bnVsbA",
    "W10",
    "eyJ2IjoibWV0YS5rOHMuaW8vdjEifQ",
    "%00",
    "====",
    "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6LTEsInN0YXJ0IjoiIn0",
    "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MWUzMDAsInN0YXJ0IjoiYSJ9",
  ];
  for (const token of tokens)
    requests.push({ path: `/api/v1/configmaps?limit=1&continue=${token}` });
  for (const raw of [
    "GET / HTTP/1.1\r\n\r\n",
    "GET /api HTTP/9.9\r\nHost: x\r\n\r\n",
    "\x00\x01\x02",
    "GET  /api  HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
    "POST /api/v1/namespaces/default/configmaps HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
    "POST /api/v1/namespaces/default/configmaps HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\nzz\r\n",
    `GET /api HTTP/1.1\r\nHost: x\r\nX: ${"a".repeat(100_000)}\r\n\r\n`,
    `GET /${"a".repeat(100_000)} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`,
    "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "GET * HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
    "CONNECT a:1 HTTP/1.1\r\nHost: x\r\n\r\n",
    "GET /api/v1/namespaces/default/pods/x/exec?command=a HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
    "GET /api/v1/pods?watch=1&timeoutSeconds=1 HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAA\r\n\r\n",
    "OPTIONS * HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
  ]) {
    requests.push({ raw: Buffer.from(raw, "latin1") });
  }
  return requests;
}

function generated(random: Random): FuzzRequest {
  if (random.integer(40) === 0)
    return {
      raw: mangled(
        random,
        Buffer.from("GET /api/v1/namespaces HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"),
      ),
    };
  const method = random.pick([
    "GET",
    "GET",
    "POST",
    "POST",
    "PUT",
    "PATCH",
    "PATCH",
    "DELETE",
    "HEAD",
    "OPTIONS",
  ] as const);
  const named = method === "PUT" || method === "PATCH" || random.integer(2) === 0;
  let path: string = random.pick(collections);
  if (named)
    path += `/${random.pick(["fuzz", "kube-root-ca.crt", "default", "a%2Fb", "..", "%00", "x".repeat(300), "ü", "a b".replace(" ", "%20"), "fuzz/status", "fuzz/scale", "fuzz/nothing", "fuzz/log", "fuzz/binding", "fuzz/eviction"])}`;
  if (random.integer(8) === 0) path = mangledPath(random, path);
  path += query(random);
  const headers: Record<string, string> = {};
  if (random.integer(3) === 0)
    headers["accept"] = random.pick([
      "application/json;as=Table;v=v1;g=meta.k8s.io",
      "application/vnd.kubernetes.protobuf",
      "application/yaml",
      "*/*;q=x",
      "application/json;as=",
      ",,,",
      "application/json;q=0",
      "text/html",
      "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1",
    ]);
  if (random.integer(10) === 0)
    headers["impersonate-user"] = random.pick([
      "x",
      "system:serviceaccount:a",
      "\u00fc",
      "system:serviceaccount:::",
    ]);
  if (random.integer(20) === 0)
    headers["authorization"] = random.pick([
      "Bearer ",
      "Bearer a.b.c",
      "Basic x",
      "Bearer eyJhbGciOiJub25lIn0.eyJpc3MiOiJ4In0.",
    ]);
  if (random.integer(20) === 0) headers["if-none-match"] = '"x"';
  if (method === "GET" || method === "HEAD" || method === "OPTIONS")
    return { method, path, headers };
  headers["content-type"] =
    method === "PATCH" ? random.pick(types.slice(2, 6)) : random.pick(types);
  return { method, path, headers, body: body(random) };
}

function query(random: Random): string {
  const names = [
    "watch",
    "resourceVersion",
    "resourceVersionMatch",
    "limit",
    "continue",
    "labelSelector",
    "fieldSelector",
    "timeoutSeconds",
    "timeout",
    "sendInitialEvents",
    "allowWatchBookmarks",
    "dryRun",
    "fieldManager",
    "fieldValidation",
    "force",
    "pretty",
    "includeObject",
    "propagationPolicy",
    "gracePeriodSeconds",
    "orphanDependents",
    "export",
    "nothing",
  ];
  const values = [
    "",
    "1",
    "0",
    "-1",
    "true",
    "false",
    "abc",
    "99999999999999999999",
    "1e3",
    "%00",
    "%zz",
    "a,b",
    "a=b",
    "a%20in%20(b",
    "!",
    "()",
    "metadata.name%3Dx",
    "All",
    "Strict",
    "Exact",
    "NotOlderThan",
    "x".repeat(2_000),
    "%F0%9F%98%80",
    "__proto__",
    "5s",
    "1ns",
    "Foreground",
  ];
  const parts = Array.from(
    { length: random.integer(4) },
    () => `${random.pick(names)}=${random.pick(values)}`,
  );
  // A watch would stay open for half an hour.
  return `?timeoutSeconds=1${parts.length === 0 ? "" : `&${parts.join("&")}`}`;
}

function body(random: Random): Json | Buffer {
  const objects: readonly Json[] = [
    configMap("fuzz"),
    deployment("fuzz"),
    pod("fuzz"),
    definition({ group: "fuzz.example.com", kind: "Thing" }),
    {
      apiVersion: "v1",
      kind: "Service",
      metadata: { name: "fuzz" },
      spec: { ports: [{ port: 80 }] },
    },
    { apiVersion: "v1", kind: "DeleteOptions" },
    [{ op: "add", path: "/metadata/labels", value: {} }],
    { metadata: { labels: { a: "b" } } },
  ];
  const text = JSON.stringify(random.pick(objects));
  switch (random.integer(5)) {
    case 0:
      return text;
    case 1:
      return mangled(random, Buffer.from(text));
    case 2:
      return substituted(random, text);
    case 3:
      return substituted(random, substituted(random, text));
    default:
      return Buffer.from(Array.from({ length: random.integer(200) }, () => random.integer(256)));
  }
}

/** Some value in the text replaced by another of any type. */
function substituted(random: Random, text: string): string {
  const places = [...text.matchAll(/"(?:[^"\\]|\\.)*"(?!:)|\d+|true|false|\{\}|\[\]/g)];
  const place = places[random.integer(Math.max(1, places.length))];
  if (place === undefined) return text;
  const other = random.pick([
    "null",
    "1",
    "-1",
    "1.5",
    "1e999",
    '""',
    '"x"',
    "[]",
    "{}",
    "[null]",
    '{"__proto__":1}',
    "true",
    '"\\u0000"',
    `"${"y".repeat(5_000)}"`,
    "99999999999999999999",
    '"2020-01-01"',
    '"1Gi"',
    '"$(x)"',
    '"-"',
  ]);
  return text.slice(0, place.index) + other + text.slice(place.index + place[0].length);
}

function mangled(random: Random, bytes: Buffer): Buffer {
  const copy = Buffer.from(bytes);
  for (let turn = 1 + random.integer(4); turn > 0; turn -= 1)
    copy[random.integer(copy.length)] = random.integer(256);
  return random.integer(4) === 0 ? copy.subarray(0, random.integer(copy.length)) : copy;
}

function mangledPath(random: Random, path: string): string {
  const at = random.integer(path.length);
  const piece = random.pick([
    "/",
    "//",
    "/../",
    "%2e%2e",
    "%",
    "%00",
    "%ff",
    ".",
    ";",
    "?",
    "&",
    "=",
    "+",
    "\\",
    "'",
    "~",
    "*",
    ":",
    "@",
  ]);
  return `/${path.slice(1, at)}${piece}${path.slice(at)}`;
}
