// A server that forgets soon, through a host.

import { eachDriver } from "../apiserver/scenarios/bed.ts";
import { forgetfulFlags, forgetfulScenarios } from "../apiserver/scenarios/watches.ts";
import { startBehindHost } from "./scenario-server.ts";

eachDriver("through a host, forgetting soon", forgetfulScenarios, {
  start: startBehindHost,
  flags: forgetfulFlags,
});
