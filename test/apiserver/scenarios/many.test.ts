// The scenarios with a number of objects, at the real process.

import { eachDriver } from "./bed.ts";
import { manyScenarios } from "./many.ts";

eachDriver("many objects", manyScenarios);
