import { cloneJson } from "@keelson/base";

import { isNil, objectAt, type DefaultRules } from "./default-rule.ts";

const int32Max = 2 ** 31 - 1;

export const batchDefaults: DefaultRules = {
  "batch/v1/Job": {
    owns: [],
    apply: (job) => {
      const labels = objectAt(job, "spec", "template", "metadata", "labels");
      const metadata = objectAt(job, "metadata");
      if (labels === undefined || metadata === undefined) return;
      if (objectAt(metadata, "labels") === undefined) metadata["labels"] = cloneJson(labels);
    },
  },
  "batch/v1/Job.spec": {
    owns: ["completions", "parallelism", "backoffLimit", "podReplacementPolicy"],
    apply: (spec) => {
      if (isNil(spec, "completions") && isNil(spec, "parallelism")) spec["completions"] = 1;
      if (isNil(spec, "parallelism")) spec["parallelism"] = 1;
      if (isNil(spec, "backoffLimit")) {
        spec["backoffLimit"] = isNil(spec, "backoffLimitPerIndex") ? 6 : int32Max;
      }
      if (isNil(spec, "podReplacementPolicy")) {
        const failsByPolicy = !isNil(spec, "podFailurePolicy");
        spec["podReplacementPolicy"] = failsByPolicy ? "Failed" : "TerminatingOrFailed";
      }
    },
  },
};
