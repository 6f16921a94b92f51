// LOAD-1 to LOAD-5 through a host. How fast it is says more of the host than of us; that nothing is lost on the way is a fact of both.

import { eachDriver } from "../../apiserver/scenarios/bed.ts";
import { agents, loadFlags, loadScenarios } from "../../apiserver/scenarios/load.ts";
import { startBehindHost } from "../scenario-server.ts";

const start = startBehindHost;
eachDriver("load through a host", loadScenarios({ objects: agents, start }), {
  start,
  flags: loadFlags,
});
