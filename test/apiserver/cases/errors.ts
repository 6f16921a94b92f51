// Bad input of every sort, paths, methods, bodies, headers: KB 33, 40, 51, 53 to 55.

import type { Json, JsonObject } from "@keelson/base";

import { casesFor, casesOf, type Script } from "../case.ts";
import { configMap, definition, deployment, pod } from "../objects.ts";
import { createKind } from "./custom-kinds.ts";

const paths = [
  "/",
  "/api",
  "/api/",
  "/apis",
  "/apis/",
  "/api/v1",
  "/api/v1/",
  "/api/v2",
  "/apis/nothing.example.com",
  "/apis/nothing.example.com/v1",
  "/apis/nothing.example.com/v1/things",
  "/apis/apps",
  "/apis/apps/",
  "/apis/apps/v1/",
  "/apis/apps/v9",
  "/apis/apps/v9/deployments",
  "/apis/apps/v1/nothings",
  "/apis/apps/v1/namespaces/x/nothings",
  "/apis/apps/v1/namespaces/x/nothings/y",
  "/api/v1/nothings",
  "/api/v1/namespaces/default/nothings",
  "/api/v1/namespaces/default/nothings/x",
  "/api/v1/namespaces/default/configmaps/x/nothing",
  "/api/v1/namespaces/default/configmaps/x/status",
  "/api/v1/namespaces/default/configmaps/x/y/z",
  "/api/v1/configmaps/x",
  "/api/v1/namespaces/default/nodes",
  "/api/v1/namespaces/default/nodes/x",
  "/api/v1/namespaces/nowhere/configmaps/x",
  "/api/v1/namespaces/default/pods/none/log",
  "/api/v1/namespaces/default/pods/none/status",
  "/api/v1/namespaces/default/pods/none/exec",
  "/api/v1/namespaces/default/services/none/proxy",
  "/api/v1/nodes/none/proxy",
  "/nothing",
  "/nothing/at/all",
  "/api/v1/namespaces/default/configmaps/",
  "/api/v1/namespaces//configmaps",
  "//api/v1",
  "/api//v1",
  "/api/v1/namespaces/default/configmaps/a%2Fb",
  "/api/v1/namespaces/default/configmaps/%20",
  "/api/v1/namespaces/default/configmaps/a%00b",
  "/api/v1/namespaces/default/configmaps/%zz",
  "/api/v1/../v1/namespaces",
  "/api/v1/namespaces/default/configmaps/..",
  "/api/v1/namespaces/default/configmaps/.",
  "/API/v1/namespaces",
  "/api/v1/Namespaces",
  "/api/v1/namespaces/default/ConfigMaps",
  "/openapi",
  "/openapi/v1",
  "/openapi/v3/apis/nothing/v1",
  "/metrics/nothing",
  "/livez/nothing",
  "/healthz/ping",
  "/healthz/nothing",
  "/readyz/ping",
  "/swagger.json",
  "/.well-known/nothing",
  "/api/v1/proxy/nodes/x",
  "/api/v1/watch/nothings",
  "/api/v1/componentstatuses",
  "/apis/apps/v1/deployments/scale",
  "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
  "/apis/authentication.k8s.io/v1/tokenreviews",
  "/api/v1/bindings",
  "/apis/ /v1",
].filter((path) => !path.includes(" "));

const configMapPath = "/api/v1/namespaces/default/configmaps";

const scripts: Record<string, Script> = {
  ...casesFor(Object.fromEntries(paths.map((path) => [path, path])), "GET %", async (lab, path) => {
    const { status } = await lab.quietly({ path });
    // What is there is compared elsewhere.
    if (status === 200) lab.note("status", 200);
    else await lab.get(path);
  }),
  ...casesFor(
    Object.fromEntries(
      (
        [
          ["POST", `${configMapPath}/x`],
          ["PUT", configMapPath],
          ["PATCH", configMapPath],
          ["FROB", configMapPath],
          ["POST", "/api/v1/configmaps"],
          ["PUT", "/api/v1/configmaps"],
          ["HEAD", configMapPath],
          ["OPTIONS", configMapPath],
          ["POST", "/api"],
          ["DELETE", "/apis"],
          ["POST", "/version"],
          ["PUT", "/healthz"],
          ["POST", "/api/v1/namespaces/default/nothings"],
          ["DELETE", "/api/v1/namespaces/default/nothings/x"],
          ["POST", "/nothing"],
          ["GET", "/apis/authorization.k8s.io/v1/subjectaccessreviews"],
          ["DELETE", "/apis/authorization.k8s.io/v1/subjectaccessreviews"],
          ["POST", "/api/v1/namespaces/default/pods/none/status"],
          ["DELETE", "/api/v1/namespaces/default/pods/none/status"],
          ["GET", "/api/v1/namespaces/default/pods/none/binding"],
          ["GET", "/api/v1/namespaces/default/serviceaccounts/default/token"],
          ["DELETE", "/apis/apps/v1/namespaces/default/deployments/x/scale"],
          ["PATCH", "/api/v1/namespaces/default/serviceaccounts/default/token"],
          ["PUT", "/api/v1/namespaces/default/pods/x/eviction"],
          ["HEAD", `${configMapPath}/kube-root-ca.crt`],
          ["HEAD", `${configMapPath}/nothing`],
          ["DELETE", "/api/v1/nodes/x/status"],
          ["POST", "/apis/apps/v1"],
        ] as const
      ).map(([method, path]) => [`${method} ${path}`, { method, path }]),
    ),
    "method %",
    async (lab, { method, path }) => {
      const body =
        method === "POST" || method === "PUT" || method === "PATCH" ? { body: "{}" } : {};
      await lab.send({ method, path, ...body });
    },
  ),
  ...casesFor(
    {
      nothing: "",
      space: "  ",
      "no JSON": "{",
      text: "hello",
      "a list": "[]",
      null: "null",
      "a number": "5",
      true: "true",
      "an empty object": "{}",
      "an unfinished text": '{"apiVersion":"v',
      trailing: '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"t"}} x',
      "two documents": '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"t"}}{"a":1}',
      "a comma too much": '{"apiVersion":"v1","kind":"ConfigMap",}',
      "single quotes": "{'a':1}",
      "a comment": "{/* */}",
      "bad UTF-8":
        '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"u"},"data":{"a":"\\ud800"}}',
      "a control character":
        '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"},"data":{"a":"\n"}}',
      "metadata is a list": '{"apiVersion":"v1","kind":"ConfigMap","metadata":[]}',
      "metadata is a text": '{"apiVersion":"v1","kind":"ConfigMap","metadata":"x"}',
      "name is a number": '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":5}}',
      "labels are a list":
        '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","labels":["x"]}}',
      "a label is a number":
        '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","labels":{"x":1}}}',
      "a time that is none":
        '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","creationTimestamp":"yesterday"}}',
      "generation is a text":
        '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","generation":"1"}}',
      "kind is a number": '{"apiVersion":"v1","kind":5}',
      proto:
        '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"p"},"__proto__":{"x":1},"data":{"__proto__":"y","constructor":"z"}}',
      "case of members":
        '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"k"},"Data":{"a":"1"}}',
    },
    "body: %",
    async (lab, body) => {
      await lab.post(lab.core("configmaps"), body);
      await lab.put(lab.core("configmaps", "x"), body);
    },
  ),
  ...casesFor(
    {
      none: "",
      "text/plain": "text/plain",
      "application/yaml": "application/yaml",
      "application/xml": "application/xml",
      "a form": "application/x-www-form-urlencoded",
      "json with charset": "application/json; charset=utf-8",
      "in capitals": "APPLICATION/JSON",
      malformed: "json",
      "protobuf that is none": "application/vnd.kubernetes.protobuf",
      cbor: "application/cbor",
      "a patch type": "application/merge-patch+json",
      two: "application/json, application/yaml",
    },
    "content type of a POST: %",
    async (lab, type) => {
      await lab.post(lab.core("configmaps"), configMap("a"), { headers: { "content-type": type } });
    },
  ),
  "YAML bodies": async (lab) => {
    const yaml = { headers: { "content-type": "application/yaml" } };
    await lab.post(
      lab.core("configmaps"),
      "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  a: '1'\n  b: |\n    two\n    lines\n",
      yaml,
    );
    await lab.post(
      lab.core("configmaps"),
      "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: b\ndata:\n  a: 1\n",
      yaml,
    );
    await lab.post(
      lab.core("configmaps"),
      "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c\n  name: d\nunknown: 1\n",
      yaml,
    );
    await lab.post(
      `${lab.core("configmaps")}?fieldValidation=Strict`,
      "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: e\n  name: f\nunknown: 1\n",
      yaml,
    );
    await lab.post(lab.core("configmaps"), "a: [", yaml);
    await lab.post(lab.core("configmaps"), "&a [*a]", yaml);
    await lab.put(
      lab.core("configmaps", "a"),
      "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  a: yes\n",
      yaml,
    );
    await lab.delete(lab.core("configmaps", "a"), "propagationPolicy: Background\n", yaml);
  },
  "protobuf bodies": async (lab) => {
    const protobuf = { headers: { "content-type": "application/vnd.kubernetes.protobuf" } };
    const encode = (object: JsonObject): Buffer => Buffer.from(lab.codec.encode(object));
    await lab.post(lab.core("configmaps"), encode(configMap("a")), protobuf);
    await lab.put(lab.core("configmaps", "a"), encode(configMap("a", { a: "2" })), protobuf);
    await lab.post(lab.group("apps/v1", "deployments"), encode(deployment("d")), protobuf);
    await lab.post(lab.core("pods"), encode(pod("p")), {
      headers: {
        ...protobuf.headers,
        accept: "application/vnd.kubernetes.protobuf,application/json",
      },
    });
    await lab.post(lab.core("configmaps"), Buffer.from("k8s\0garbage"), protobuf);
    await lab.post(lab.core("configmaps"), encode(configMap("b")).subarray(0, 30), protobuf);
    await lab.post(lab.core("configmaps"), Buffer.alloc(0), protobuf);
    await lab.post(lab.core("secrets"), encode(configMap("c")), protobuf);
    await lab.post(
      lab.group("coordination.k8s.io/v1", "leases"),
      encode({
        apiVersion: "coordination.k8s.io/v1",
        kind: "Lease",
        metadata: { name: "l" },
        spec: {
          holderIdentity: "me",
          leaseDurationSeconds: 15,
          renewTime: "2026-01-01T00:00:00.123456Z",
        },
      }),
      protobuf,
    );
  },
  "bodies beyond three mebibytes": async (lab) => {
    const large = configMap("a", { a: "x".repeat(3 * 1024 * 1024) });
    await lab.post(lab.core("configmaps"), large);
    await lab.put(lab.core("configmaps", "a"), large);
    await lab.patch("merge", lab.core("configmaps", "a"), large);
    await lab.patch("apply", `${lab.core("configmaps", "a")}?fieldManager=m`, large);
    await lab.delete(lab.core("configmaps", "a"), {
      apiVersion: "v1",
      kind: "DeleteOptions",
      x: "x".repeat(3 * 1024 * 1024),
    });
  },
  "an object that is large but allowed to be sent": async (lab) => {
    await lab.post(lab.core("configmaps"), configMap("a", { a: "x".repeat(2 * 1024 * 1024) }));
  },
  ...casesFor(
    { Strict: "Strict", Warn: "Warn", Ignore: "Ignore", Other: "Other", nothing: "" },
    "unknown and repeated fields, %",
    async (lab, validation) => {
      const query = `?fieldValidation=${validation}`;
      const body =
        '{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d","foo":1,"labels":{"a":"1","a":"2"}},"spec":{"unknown1":1,"paused":true,"paused":false,"selector":{"matchLabels":{"app":"x"}},"template":{"metadata":{"labels":{"app":"x"}},"spec":{"unknown2":{},"containers":[{"name":"a","image":"a","unknown3":1,"image":"b"}]}}}}';
      await lab.post(`${lab.group("apps/v1", "deployments")}${query}`, body);
      await lab.quietly({
        method: "POST",
        path: lab.group("apps/v1", "deployments"),
        body: deployment("d"),
      });
      const path = lab.group("apps/v1", "deployments", "d");
      await lab.put(`${path}${query}`, body);
      await lab.patch(
        "merge",
        `${path}${query}`,
        '{"spec":{"foo":"bar1","foo":"bar2","replicas":2,"replicas":3}}',
      );
      await lab.patch(
        "strategic",
        `${path}${query}`,
        '{"spec":{"foo":"bar1","foo":"bar2","template":{"spec":{"containers":[{"name":"a","frob":1}]}}}}',
      );
      await lab.patch(
        "json",
        `${path}${query}`,
        '[{"op":"add","path":"/spec/foo","value":"bar","foo":"a"},{"op":"add","path":"/spec/replicas","value":5,"value":6}]',
      );
      await lab.patch(
        "apply",
        `${path}${query}&fieldManager=m&force=true`,
        "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: d\nspec:\n  foo: 1\n  foo: 2\n  paused: true\n  paused: false\n",
      );
      await lab.patch(
        "apply",
        `${path}${query}&fieldManager=m&force=true`,
        "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: d\nspec:\n  foo: 1\n  paused: true\n",
      );
    },
  ),
  ...casesFor(
    { Strict: "Strict", Warn: "Warn", Ignore: "Ignore" },
    "unknown and repeated fields of a custom resource, %",
    async (lab, validation) => {
      const group = `f-${lab.id}.example.com`;
      await createKind(
        lab,
        definition({
          group,
          kind: "Thing",
          schema: {
            type: "object",
            properties: {
              spec: {
                type: "object",
                properties: {
                  a: { type: "string" },
                  embedded: {
                    type: "object",
                    "x-kubernetes-embedded-resource": true,
                    properties: { spec: { type: "object", properties: { x: { type: "string" } } } },
                  },
                  free: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
                },
              },
            },
          },
        }),
      );
      const path = lab.group(`${group}/v1`, "things");
      const query = `?fieldValidation=${validation}`;
      const body = `{"apiVersion":"${group}/v1","kind":"Thing","metadata":{"name":"t","foo":1},"spec":{"a":"1","a":"2","unknown":1,"free":{"any":1},"embedded":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"x","bar":2},"spec":{"x":"1","y":2}}}}`;
      await lab.post(`${path}${query}`, body);
      await lab.quietly({
        method: "POST",
        path,
        body: { apiVersion: `${group}/v1`, kind: "Thing", metadata: { name: "t" }, spec: {} },
      });
      await lab.put(`${path}/t${query}`, body);
      await lab.patch("merge", `${path}/t${query}`, '{"spec":{"foo":"bar1","foo":"bar2"}}');
      await lab.patch(
        "json",
        `${path}/t${query}`,
        '[{"op":"add","path":"/spec/foo","value":"bar","foo":"a"}]',
      );
      await lab.patch(
        "apply",
        `${path}/t${query}&fieldManager=m&force=true`,
        `apiVersion: ${group}/v1\nkind: Thing\nmetadata:\n  name: t\nspec:\n  foo: 1\n  foo: 2\n`,
      );
    },
  ),
  headers: async (lab) => {
    await lab.get(lab.core("configmaps"), { headers: { "audit-id": "mine" } });
    await lab.get(lab.core("configmaps"), { headers: { origin: "https://example.com" } });
    await lab.get(lab.core("configmaps"), { headers: { host: "elsewhere.example.com" } });
    await lab.get(lab.core("configmaps"), {
      headers: { "x-remote-user": "admin", "x-remote-group": "system:masters" },
    });
    await lab.get(lab.core("configmaps"), { headers: { authorization: "Basic YTpi" } });
    await lab.get(lab.core("configmaps"), { headers: { authorization: "Bearer nonsense" } });
    await lab.get(lab.core("configmaps"), { headers: { authorization: "Bearer" } });
    await lab.get(lab.core("configmaps"), { headers: { "accept-encoding": "gzip" } });
  },
  depth: async (lab) => {
    const deep = (levels: number): string =>
      `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"d"},"x":${"[".repeat(levels)}${"]".repeat(levels)}}`;
    await lab.statusOf({ method: "POST", path: lab.core("configmaps"), body: deep(400) });
    await lab.statusOf({ method: "POST", path: lab.core("configmaps"), body: deep(100_000) });
  },
  "no namespace": async (lab) => {
    const elsewhere = `/api/v1/namespaces/nowhere-${lab.id}/configmaps`;
    await lab.post(elsewhere, configMap("a"));
    await lab.put(`${elsewhere}/a`, configMap("a"));
    await lab.patch("apply", `${elsewhere}/a?fieldManager=m`, configMap("a"));
    await lab.get(`${elsewhere}/a`);
    await lab.delete(`${elsewhere}/a`);
    await lab.post("/api/v1/configmaps", configMap("a", {}, { namespace: lab.ns }));
    await lab.post("/api/v1/namespaces/UPPER/configmaps", configMap("a"));
  },
};

const values: Record<string, Script> = {
  ...casesFor(
    {
      "replicas negative": { spec: { replicas: -1 } },
      "replicas a text": { spec: { replicas: "1" } },
      "replicas large": { spec: { replicas: 2_147_483_648 } },
      "no selector": { spec: { selector: null } },
      "an empty selector": { spec: { selector: {} } },
      "selector and labels differ": { spec: { selector: { matchLabels: { app: "y" } } } },
      "a bad expression": {
        spec: { selector: { matchExpressions: [{ key: "app", operator: "Near" }] } },
      },
      "no containers": {
        spec: { template: { metadata: { labels: { app: "x" } }, spec: { containers: [] } } },
      },
      "a bad restart policy": {
        spec: {
          template: {
            metadata: { labels: { app: "x" } },
            spec: { restartPolicy: "Never", containers: [{ name: "a", image: "a" }] },
          },
        },
      },
      "two containers of a name": {
        spec: {
          template: {
            metadata: { labels: { app: "x" } },
            spec: {
              containers: [
                { name: "a", image: "a" },
                { name: "a", image: "b" },
              ],
            },
          },
        },
      },
      "no image": {
        spec: {
          template: { metadata: { labels: { app: "x" } }, spec: { containers: [{ name: "a" }] } },
        },
      },
      "a bad name": {
        spec: {
          template: {
            metadata: { labels: { app: "x" } },
            spec: { containers: [{ name: "A_b", image: "a" }] },
          },
        },
      },
      "a bad port": {
        spec: {
          template: {
            metadata: { labels: { app: "x" } },
            spec: {
              containers: [
                {
                  name: "a",
                  image: "a",
                  ports: [{ containerPort: 0 }, { containerPort: 99_999, protocol: "FOO" }],
                },
              ],
            },
          },
        },
      },
      "a bad quantity": {
        spec: {
          template: {
            metadata: { labels: { app: "x" } },
            spec: {
              containers: [{ name: "a", image: "a", resources: { limits: { cpu: "lots" } } }],
            },
          },
        },
      },
      "requests beyond limits": {
        spec: {
          template: {
            metadata: { labels: { app: "x" } },
            spec: {
              containers: [
                {
                  name: "a",
                  image: "a",
                  resources: { limits: { cpu: "1" }, requests: { cpu: "2" } },
                },
              ],
            },
          },
        },
      },
      "an unknown volume": {
        spec: {
          template: {
            metadata: { labels: { app: "x" } },
            spec: {
              containers: [
                { name: "a", image: "a", volumeMounts: [{ name: "v", mountPath: "/v" }] },
              ],
            },
          },
        },
      },
      "a bad strategy": { spec: { strategy: { type: "Sideways" } } },
      "recreate with rolling": {
        spec: { strategy: { type: "Recreate", rollingUpdate: { maxSurge: 1 } } },
      },
      "nothing unavailable": {
        spec: { strategy: { rollingUpdate: { maxSurge: 0, maxUnavailable: 0 } } },
      },
      "a bad percentage": { spec: { strategy: { rollingUpdate: { maxSurge: "x%" } } } },
      "a deadline too short": { spec: { minReadySeconds: 10, progressDeadlineSeconds: 5 } },
      "env from nothing": {
        spec: {
          template: {
            metadata: { labels: { app: "x" } },
            spec: {
              containers: [
                {
                  name: "a",
                  image: "a",
                  env: [
                    {
                      name: "1=2",
                      value: "x",
                      valueFrom: { fieldRef: { fieldPath: "metadata.name" } },
                    },
                  ],
                },
              ],
            },
          },
        },
      },
      "a probe without action": {
        spec: {
          template: {
            metadata: { labels: { app: "x" } },
            spec: { containers: [{ name: "a", image: "a", livenessProbe: { periodSeconds: -1 } }] },
          },
        },
      },
      "spec is a text": { spec: "x" },
      "no spec": { spec: null },
      "numbers as floats": { spec: { replicas: 1.0 } },
    },
    "deployment: %",
    async (lab, change) => {
      const good = deployment("d");
      const spec = change["spec"];
      const body =
        typeof spec === "object" && spec !== null
          ? { ...good, spec: { ...(good["spec"] as JsonObject), ...(spec as JsonObject) } }
          : { ...good, spec: spec as Json };
      await lab.post(lab.group("apps/v1", "deployments"), body);
    },
  ),
  ...casesFor<readonly [string, string, string, JsonObject | undefined, JsonObject?]>(
    {
      "Ingress without backend": [
        "networking.k8s.io/v1",
        "ingresses",
        "Ingress",
        { rules: [{ http: { paths: [{ path: "x", pathType: "Prefix" }] } }] },
      ],
      "Ingress empty": ["networking.k8s.io/v1", "ingresses", "Ingress", {}],
      "CronJob with a bad schedule": [
        "batch/v1",
        "cronjobs",
        "CronJob",
        {
          schedule: "whenever",
          jobTemplate: {
            spec: {
              template: {
                spec: { restartPolicy: "Never", containers: [{ name: "a", image: "a" }] },
              },
            },
          },
        },
      ],
      "CronJob with a time zone in it": [
        "batch/v1",
        "cronjobs",
        "CronJob",
        {
          schedule: "TZ=UTC 0 0 * * *",
          timeZone: "Nowhere/Land",
          jobTemplate: {
            spec: {
              template: {
                spec: { restartPolicy: "Always", containers: [{ name: "a", image: "a" }] },
              },
            },
          },
        },
      ],
      "Job that restarts": [
        "batch/v1",
        "jobs",
        "Job",
        {
          template: { spec: { restartPolicy: "Always", containers: [{ name: "a", image: "a" }] } },
        },
      ],
      "Job with negative numbers": [
        "batch/v1",
        "jobs",
        "Job",
        {
          parallelism: -1,
          completions: -1,
          backoffLimit: -1,
          template: { spec: { restartPolicy: "Never", containers: [{ name: "a", image: "a" }] } },
        },
      ],
      "StatefulSet without a service": [
        "apps/v1",
        "statefulsets",
        "StatefulSet",
        {
          selector: { matchLabels: { a: "b" } },
          template: {
            metadata: { labels: { a: "b" } },
            spec: { containers: [{ name: "a", image: "a" }] },
          },
        },
      ],
      "DaemonSet with a bad strategy": [
        "apps/v1",
        "daemonsets",
        "DaemonSet",
        {
          updateStrategy: { type: "X" },
          selector: { matchLabels: { a: "b" } },
          template: {
            metadata: { labels: { a: "b" } },
            spec: { containers: [{ name: "a", image: "a" }] },
          },
        },
      ],
      "PodDisruptionBudget with both": [
        "policy/v1",
        "poddisruptionbudgets",
        "PodDisruptionBudget",
        { minAvailable: 1, maxUnavailable: 1 },
      ],
      "HPA without bounds": [
        "autoscaling/v2",
        "horizontalpodautoscalers",
        "HorizontalPodAutoscaler",
        { scaleTargetRef: { kind: "Deployment", name: "d" }, minReplicas: 5, maxReplicas: 1 },
      ],
      "NetworkPolicy with a bad type": [
        "networking.k8s.io/v1",
        "networkpolicies",
        "NetworkPolicy",
        { podSelector: {}, policyTypes: ["Sideways"] },
      ],
      "Lease with a negative time": [
        "coordination.k8s.io/v1",
        "leases",
        "Lease",
        { leaseDurationSeconds: -1, leaseTransitions: -1 },
      ],
      "Lease with a bad time": [
        "coordination.k8s.io/v1",
        "leases",
        "Lease",
        { renewTime: "2026-01-01" },
      ],
      "Role without verbs": [
        "rbac.authorization.k8s.io/v1",
        "roles",
        "Role",
        undefined,
        { rules: [{ apiGroups: [""], resources: ["pods"] }] },
      ],
      "Role with paths": [
        "rbac.authorization.k8s.io/v1",
        "roles",
        "Role",
        undefined,
        { rules: [{ verbs: ["get"], nonResourceURLs: ["/x"] }] },
      ],
      "RoleBinding without role": [
        "rbac.authorization.k8s.io/v1",
        "rolebindings",
        "RoleBinding",
        undefined,
        { subjects: [{ kind: "User", name: "u" }] },
      ],
      "RoleBinding with a bad subject": [
        "rbac.authorization.k8s.io/v1",
        "rolebindings",
        "RoleBinding",
        undefined,
        {
          roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "r" },
          subjects: [{ kind: "Robot", name: "u" }],
        },
      ],
      "EndpointSlice without addresses": [
        "discovery.k8s.io/v1",
        "endpointslices",
        "EndpointSlice",
        undefined,
        { addressType: "IPv9", endpoints: [{ addresses: [] }] },
      ],
      "ResourceQuota with a bad quantity": [
        "v1",
        "resourcequotas",
        "ResourceQuota",
        { hard: { pods: "many" } },
      ],
      "LimitRange upside down": [
        "v1",
        "limitranges",
        "LimitRange",
        { limits: [{ type: "Container", max: { cpu: "1" }, min: { cpu: "2" } }] },
      ],
      "PersistentVolumeClaim without anything": [
        "v1",
        "persistentvolumeclaims",
        "PersistentVolumeClaim",
        {},
      ],
      "Endpoints with a bad address": [
        "v1",
        "endpoints",
        "Endpoints",
        undefined,
        { subsets: [{ addresses: [{ ip: "x" }], ports: [{ port: 0 }] }] },
      ],
      "Event elsewhere": [
        "v1",
        "events",
        "Event",
        undefined,
        { involvedObject: { kind: "Pod", namespace: "elsewhere", name: "p" } },
      ],
      "ServiceAccount with odd secrets": [
        "v1",
        "serviceaccounts",
        "ServiceAccount",
        undefined,
        { secrets: [{ name: "" }], imagePullSecrets: [{}] },
      ],
      "ReplicaSet with labels that differ": [
        "apps/v1",
        "replicasets",
        "ReplicaSet",
        {
          selector: { matchLabels: { a: "b" } },
          template: {
            metadata: { labels: { a: "c" } },
            spec: { containers: [{ name: "a", image: "a" }] },
          },
        },
      ],
      "ControllerRevision without data": [
        "apps/v1",
        "controllerrevisions",
        "ControllerRevision",
        undefined,
        { revision: -1 },
      ],
    },
    "%",
    async (lab, [groupVersion, plural, kind, spec, rest]) => {
      const path = groupVersion === "v1" ? lab.core(plural) : lab.group(groupVersion, plural);
      const body = {
        apiVersion: groupVersion,
        kind,
        metadata: { name: "x" },
        ...(spec === undefined ? {} : { spec }),
        ...rest,
      };
      await lab.post(path, body);
    },
  ),
};

export const errorCases = [...casesOf("errors", scripts), ...casesOf("values", values)];
