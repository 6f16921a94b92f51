// Names of types: long in OpenAPI, short in our data.

/** Our prefix for OpenAPI's; the first that fits counts. */
const prefixes = [
  ["meta.v1.", "io.k8s.apimachinery.pkg.apis.meta.v1."],
  ["runtime.", "io.k8s.apimachinery.pkg.runtime."],
  ["intstr.", "io.k8s.apimachinery.pkg.util.intstr."],
  ["quantity.", "io.k8s.apimachinery.pkg.api.resource."],
  ["version.", "io.k8s.apimachinery.pkg.version."],
  ["apiextensions.", "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions."],
  ["apiregistration.", "io.k8s.kube-aggregator.pkg.apis.apiregistration."],
  ["", "io.k8s.api."],
] as const;

/** `io.k8s.api.apps.v1.Deployment` to `apps.v1.Deployment`. Throws on a name that is not of Kubernetes. */
export function shortTypeName(openApiName: string): string {
  const found = prefixes.find(([, long]) => openApiName.startsWith(long));
  if (found === undefined) throw new RangeError(`${openApiName} is no type of Kubernetes`);
  return found[0] + openApiName.slice(found[1].length);
}

/** `apps.v1.Deployment` to `io.k8s.api.apps.v1.Deployment`, the name under which OpenAPI publishes it. */
export function openApiTypeName(shortName: string): string {
  const found = prefixes.find(([short]) => shortName.startsWith(short));
  return (found?.[1] ?? "") + shortName.slice(found?.[0].length ?? 0);
}
