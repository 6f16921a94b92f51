// Cases that still differ, and should not: each is a bug of ours, listed in docs/differences.md. None may be added to make a run pass.

/** By the name of the case, what differs. */
export const openDifferences: Readonly<Record<string, string>> = {
  "subresources: tokens of an account": "the answer to a request for a token has no managedFields",
  "security: reviews of access": "the order of the paths that somebody may ask for, at times",
  "kinds: PersistentVolumeClaim of core/v1 is applied":
    "a second apply by the same manager moves the version there",
  "kinds: Service of core/v1 with options":
    "a Service without a name is refused before it is given an address",
  "kinds: DaemonSet of apps/v1 in other shapes":
    "a Table shows an annotation that the real server leaves out",
  "kinds: DaemonSet of apps/v1 at its status": "a write to the status resets that annotation",
  "kinds: ClusterTrustBundle of certificates.k8s.io/v1beta1 with options":
    "generateName is not held to the signer",
  "writes: what only the server says is replaced or dropped":
    "a PUT that creates keeps deletionTimestamp there",
  "writes: kinds and versions that do not agree":
    "a patch that makes it another kind is read as that kind there",
  "writes: managed fields cleared and kept":
    "an update after managed fields were cleared begins them again",
  "apply: status and scale are other owners": "the same",
  "lists: options: token and version": "which of two wrong options is told",
  "subresources: scale and status of a custom resource":
    "an entry that came through the scale loses its time there at the next write",
  "shapes: Accept application/*": "406 there",
  "shapes: rows of what a write answers": "a review as a Table is 406 there",
  "errors: GET /openapi/v3/apis/nothing/v1": "the words of the 404",
  "errors: GET /api/v1/bindings": "404 there, 405 here",
  "errors: protobuf bodies": "the words for bytes that are no message",
  "security: being somebody else":
    "a header that keeps browsers from guessing is missing on one refusal",
  "generated: apiserver/40": "an object that a body says twice is read twice there",
};
