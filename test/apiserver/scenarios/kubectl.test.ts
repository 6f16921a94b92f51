// The scenarios that name kubectl, at the real process.

import { eachDriver } from "./bed.ts";
import { kubectlScenarios } from "./kubectl.ts";

eachDriver("kubectl", kubectlScenarios);
