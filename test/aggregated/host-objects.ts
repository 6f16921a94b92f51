// What stands in a host for a server of ours behind it: the rights of the chart, a Service, the APIServices.

export const namespace = "ark-system";
export const service = "ark-apiserver";
export const group = "ark.mckinsey.com";

export const versions = [
  { version: "v1alpha1", versionPriority: 15 },
  { version: "v1prealpha1", versionPriority: 10 },
] as const;

export interface HostObject {
  /** Where it is created. */
  readonly path: string;
  readonly body: object;
}

const rbac = "/apis/rbac.authorization.k8s.io/v1";

export function hostObjects({
  port,
  caBundle,
}: {
  readonly port: number;
  readonly caBundle: string;
}): readonly HostObject[] {
  const subjects = [
    {
      kind: "User",
      apiGroup: "rbac.authorization.k8s.io",
      name: `system:serviceaccount:${namespace}:${service}`,
    },
  ];
  return [
    {
      path: "/api/v1/namespaces",
      body: { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } },
    },
    ...bindings(subjects),
    {
      path: `/api/v1/namespaces/${namespace}/services`,
      body: {
        apiVersion: "v1",
        kind: "Service",
        metadata: { name: service },
        spec: { type: "ExternalName", externalName: "localhost", ports: [{ port }] },
      },
    },
    ...versions.map(({ version, versionPriority }) => ({
      path: "/apis/apiregistration.k8s.io/v1/apiservices",
      body: {
        apiVersion: "apiregistration.k8s.io/v1",
        kind: "APIService",
        metadata: { name: `${version}.${group}` },
        spec: {
          group,
          version,
          service: { name: service, namespace, port },
          groupPriorityMinimum: 1000,
          versionPriority,
          caBundle: Buffer.from(caBundle).toString("base64"),
        },
      },
    })),
  ];
}

function bindings(subjects: readonly object[]): readonly HostObject[] {
  const to = (kind: string, name: string): object => ({
    apiGroup: "rbac.authorization.k8s.io",
    kind,
    name,
  });
  return [
    {
      path: `${rbac}/clusterroles`,
      body: {
        metadata: { name: service },
        rules: [
          { apiGroups: [""], resources: ["namespaces"], verbs: ["get", "list", "watch"] },
          { apiGroups: [""], resources: ["secrets", "configmaps"], verbs: ["get"] },
        ],
      },
    },
    {
      path: `${rbac}/clusterrolebindings`,
      body: { metadata: { name: service }, subjects, roleRef: to("ClusterRole", service) },
    },
    {
      path: `${rbac}/clusterrolebindings`,
      body: {
        metadata: { name: `${service}-delegates` },
        subjects,
        roleRef: to("ClusterRole", "system:auth-delegator"),
      },
    },
    {
      path: `${rbac}/namespaces/kube-system/rolebindings`,
      body: {
        metadata: { name: service },
        subjects,
        roleRef: to("Role", "extension-apiserver-authentication-reader"),
      },
    },
  ];
}
