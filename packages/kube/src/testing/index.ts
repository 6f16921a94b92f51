// What tests of Kubernetes rules share.

export { deploymentSchema } from "./deployment-schema.ts";
export { loadKindExamples, type KindExample } from "../kinds/builtin-kinds.ts";
export { answerInThread, threadOf } from "./soon.ts";
