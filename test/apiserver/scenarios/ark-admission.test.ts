// The admission of the Ark kinds, at the real process.

import { admissionEnvironment, admissionScenarios } from "./ark-admission.ts";
import { eachDriver } from "./bed.ts";

eachDriver("admission of the Ark kinds", admissionScenarios, { environment: admissionEnvironment });
