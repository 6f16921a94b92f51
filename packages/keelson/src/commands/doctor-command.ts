// `keelson doctor`, as it is typed.

import type { Define } from "./catalog.ts";
import { withExamples } from "./examples.ts";
import { changeOutputs, withOutput, type OutputFlags } from "./flags.ts";
import { configOf, withSettings } from "./setting-flags.ts";

export const defineDoctor: Define = (command, context) => {
  withExamples(withSettings(withOutput(command, changeOutputs)), [
    ["keelson doctor"],
    ["keelson doctor --port 9000", "as it would be with that flag"],
    ["keelson doctor -o json"],
  ])
    .description(
      "look whether Keelson can run here: programs, settings, data folder, ports, PostgreSQL, kubeconfigs, clock; what is wrong is told with what mends it, and ends with 1",
    )
    .action(async ({ output, ...options }: OutputFlags) => {
      const { doctor } = await import("./doctor/doctor.ts");
      const readConfig = () => configOf(options, context, "up");
      await context.run((signal) => doctor(context, { output, readConfig }, signal));
    });
};
