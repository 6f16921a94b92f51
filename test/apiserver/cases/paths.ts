// Paths that lead nowhere, and methods that they do not know: KB 40, 53, 54.

import { casesFor, casesOf, type Script } from "../case.ts";

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
];

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
};

export const pathCases = casesOf("paths", scripts);
