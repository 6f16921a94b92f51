// The acceptance scenarios of clients, through a host: the same tests as at our server itself, at another address.

import { admissionEnvironment, admissionScenarios } from "../apiserver/scenarios/ark-admission.ts";
import { eachDriver } from "../apiserver/scenarios/bed.ts";
import { kubectlScenarios } from "../apiserver/scenarios/kubectl.ts";
import { manyScenarios } from "../apiserver/scenarios/many.ts";
import { watchScenarios } from "../apiserver/scenarios/watches.ts";
import { startBehindHost } from "./scenario-server.ts";

eachDriver(
  "through a host",
  (it) => {
    watchScenarios(it);
    kubectlScenarios(it);
    admissionScenarios(it);
    manyScenarios(it);
  },
  { start: startBehindHost, environment: admissionEnvironment },
);
