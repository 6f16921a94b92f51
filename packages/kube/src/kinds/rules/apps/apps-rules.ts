import type { GroupRules } from "../rules-of.ts";
import { controllerRevisionRules } from "./controller-revision.ts";
import { daemonSetRules } from "./daemon-set.ts";
import { deploymentRules } from "./deployment.ts";
import { replicaSetRules } from "./replica-set.ts";
import { statefulSetRules } from "./stateful-set.ts";

/** The rules of `apps`. */
export const appsRules: GroupRules = {
  ControllerRevision: controllerRevisionRules,
  DaemonSet: daemonSetRules,
  Deployment: deploymentRules,
  ReplicaSet: replicaSetRules,
  StatefulSet: statefulSetRules,
};
