// Bodies that say they are of another kind, or of none.

/** Paths of collections, and bodies for them. */
export const otherKinds: readonly (readonly [path: string, bodies: readonly string[]])[] = [
  [
    "/apis/apps/v1/namespaces/lab-0/deployments",
    [
      `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"}}`,
      `{"apiVersion":"apps/v1","kind":"StatefulSet"}`,
      `{"apiVersion":"apps/v1beta1","kind":"Deployment"}`,
      `{"apiVersion":"extensions/v1beta1","kind":"Deployment"}`,
      `{"apiVersion":"apps/v2","kind":"Deployment"}`,
      `{"apiVersion":"apps/v1","kind":"Foo"}`,
      `{"apiVersion":"a/b/c","kind":"Deployment"}`,
      `{"apiVersion":"a/","kind":"Deployment"}`,
      `{"apiVersion":"apps/","kind":"Deployment"}`,
      `{"apiVersion":"/v1","kind":"Deployment"}`,
      `{"apiVersion":"apps/v1","kind":5}`,
      `{"apiVersion":{},"kind":"Deployment"}`,
      `{"apiVersion":["x"],"kind":5}`,
      `{"Kind":"Pod","APIVERSION":"v1"}`,
      `{"kind":null,"apiVersion":null}`,
      `{"metadata":{"name":"a"}}`,
      `{"apiVersion":"autoscaling/v1","kind":"Scale"}`,
      `{"apiVersion":"v1","kind":"Status"}`,
      `{"apiVersion":"v1","kind":"List"}`,
      `{"apiVersion":"apps/v1","kind":"DeploymentList"}`,
      `{"apiVersion":"apps/v1","kind":"DeleteOptions"}`,
      `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition"}`,
      `{"apiVersion":"example.com/v1","kind":"Thing"}`,
      "[]",
      `"a long enough text, in quotation marks"`,
      "5",
      "null",
    ],
  ],
  [
    "/api/v1/namespaces/lab-0/configmaps",
    [`{"apiVersion":"v1","kind":"Secret"}`, `{"kind":"Secret"}`],
  ],
  [
    "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
    [
      `{"apiVersion":"v1","kind":"Pod"}`,
      `{"apiVersion":"apiextensions.k8s.io/v1beta1","kind":"CustomResourceDefinition"}`,
      `{"apiVersion":"apiextensions.k8s.io/v1","kind":"Foo"}`,
    ],
  ],
  ["/apis/apiregistration.k8s.io/v1/apiservices", [`{"apiVersion":"v1","kind":"Pod"}`]],
  [
    "/apis/events.k8s.io/v1/namespaces/lab-0/events",
    [`{"apiVersion":"v1","kind":"Event"}`, `{"apiVersion":"v1","kind":"Pod"}`],
  ],
  [
    "/apis/autoscaling/v2/namespaces/lab-0/horizontalpodautoscalers",
    [`{"apiVersion":"autoscaling/v1","kind":"HorizontalPodAutoscaler"}`],
  ],
  [
    "/apis/rbac.authorization.k8s.io/v1/clusterroles",
    [`{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"Role"}`],
  ],
  ["/apis/storage.k8s.io/v1/storageclasses", [`{"apiVersion":"v1","kind":"ConfigMap"}`]],
];
