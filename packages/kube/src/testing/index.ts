// What tests of Kubernetes rules share.

export { deploymentSchema, metadataSchema } from "./deployment-schema.ts";
