import type { GroupRules } from "../rules-of.ts";
import { cronJobRules } from "./cron-job.ts";
import { jobRules } from "./job.ts";

/** The rules of `batch`. */
export const batchRules: GroupRules = { CronJob: cronJobRules, Job: jobRules };
