import type { GroupRules } from "../rules-of.ts";
import { configMapRules } from "./config-map.ts";
import { namespaceRules } from "./namespace.ts";
import { podRules } from "./pod/pod.ts";
import { secretRules } from "./secret.ts";
import { serviceRules } from "./service.ts";

/** The rules of the core group. */
export const coreRules: GroupRules = {
  ConfigMap: configMapRules,
  Namespace: namespaceRules,
  Pod: podRules,
  Secret: secretRules,
  Service: serviceRules,
};
