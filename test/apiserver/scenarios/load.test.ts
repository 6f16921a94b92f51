// LOAD-1 to LOAD-5 at our server itself.

import { startOurs } from "../ours.ts";
import { eachDriver } from "./bed.ts";
import { configMaps, loadFlags, loadScenarios } from "./load.ts";

eachDriver("load", loadScenarios({ objects: configMaps, start: startOurs }), {
  flags: loadFlags,
});
