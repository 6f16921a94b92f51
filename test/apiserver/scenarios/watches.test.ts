// What watches and lists owe their clients, at the real process.

import { eachDriver } from "./bed.ts";
import { forgetfulFlags, forgetfulScenarios, watchScenarios } from "./watches.ts";

eachDriver("watches", watchScenarios);
eachDriver("watches of a server that forgets soon", forgetfulScenarios, { flags: forgetfulFlags });
