// What tests of Kubernetes rules share.

export { loadKindExamples, type KindExample } from "../kinds/builtin-kinds.ts";
