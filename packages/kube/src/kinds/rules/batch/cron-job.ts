import type { JsonObject, MutableJsonObject } from "@keelson/base";

import { byteLength } from "../../../go-text/byte-order.ts";
import {
  flagOf,
  maybeObject,
  maybeText,
  objectOf,
  textOf,
  writableObject,
} from "../../../object/members.ts";
import type { KindRules } from "../../kind-rules.ts";
import { templateOptions } from "../core/pod/pod-template.ts";
import { showSelector } from "../label-selectors.ts";
import { checkNotNegative } from "../meta/checks.ts";
import { Place } from "../place.ts";
import { semanticEqual } from "../semantic-equal.ts";
import { dropFromTemplate, isStatusChange, podNameWarnings } from "../workloads.ts";
import { scheduleProblem } from "./cron-schedule.ts";
import { checkJobSpec, jobSpecWarnings } from "./job-spec.ts";
import { isTimeZone } from "./time-zones.ts";

/** Names of Jobs are the CronJob's and a time of eleven characters. */
const nameBytesMax = 52;

export const cronJobRules: KindRules = {
  prepareForCreate: (job) => drop(job, undefined),
  prepareForUpdate: drop,
  validate: (job) => {
    const at = Place.root("spec");
    checkSpec(job, at, undefined);
    const name = textOf(objectOf(job, "metadata"), "name");
    if (byteLength(name) > nameBytesMax) {
      Place.root("metadata", at.errors)
        .child("name")
        .invalid(name, `must be no more than ${nameBytesMax} characters`);
    }
    return at.errors;
  },
  validateUpdate: (job, old) => {
    const at = Place.root("spec");
    checkSpec(job, at, old);
    return at.errors;
  },
  warnings: (job, old) => {
    const path = "spec.jobTemplate.spec";
    if (old === undefined) {
      return [
        ...podNameWarnings(job, "Pod names and hostnames"),
        ...jobSpecWarnings(jobSpecOf(job), path),
      ];
    }
    if (isStatusChange(job, old)) return [];
    const isSame = semanticEqual(objectOf(job, "spec"), objectOf(old, "spec"));
    const hasZone = textOf(objectOf(job, "spec"), "schedule").includes("TZ");
    return [
      ...(isSame ? [] : jobSpecWarnings(jobSpecOf(job), path)),
      ...(hasZone
        ? [
            "cannot use TZ or CRON_TZ in spec.spec.schedule, use timeZone instead, see https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details",
          ]
        : []),
    ];
  },
};

function jobSpecOf(job: JsonObject): JsonObject {
  return objectOf(objectOf(objectOf(job, "spec"), "jobTemplate"), "spec");
}

function drop(job: MutableJsonObject, old: JsonObject | undefined): void {
  const spec = writableObject(job, "spec");
  const template = spec && writableObject(spec, "jobTemplate");
  const own = template && writableObject(template, "spec");
  if (own !== undefined) dropFromTemplate(own, old && jobSpecOf(old));
}

function checkSpec(job: JsonObject, at: Place, old: JsonObject | undefined): void {
  const spec = objectOf(job, "spec");
  const before = old && objectOf(old, "spec");
  const schedule = textOf(spec, "schedule");
  if (schedule === "") at.child("schedule").required();
  else checkSchedule(spec, at.child("schedule"), before);
  checkNotNegative(spec, at, ["startingDeadlineSeconds"]);
  const zone = maybeText(spec, "timeZone");
  if (zone !== undefined && (before === undefined || zone !== maybeText(before, "timeZone"))) {
    checkTimeZone(zone, at.child("timeZone"));
  }
  const policy = textOf(spec, "concurrencyPolicy");
  const policies = ["Allow", "Forbid", "Replace"];
  if (policy === "") at.child("concurrencyPolicy").required();
  else if (!policies.includes(policy)) at.child("concurrencyPolicy").notSupported(policy, policies);
  const own = jobSpecOf(job);
  const place = at.child("jobTemplate").child("spec");
  checkJobSpec(own, place, templateOptions(old && objectOf(jobSpecOf(old), "template")));
  const selector = maybeObject(own, "selector");
  if (selector !== undefined) {
    place
      .child("selector")
      .invalidShown(showSelector(selector), "`selector` will be auto-generated");
  }
  if (flagOf(own, "manualSelector")) {
    place.child("manualSelector").notSupported(true, ["nil", "false"]);
  }
  checkNotNegative(spec, at, ["successfulJobsHistoryLimit", "failedJobsHistoryLimit"]);
}

function checkSchedule(spec: JsonObject, at: Place, old: JsonObject | undefined): void {
  const schedule = textOf(spec, "schedule");
  const problem = scheduleProblem(schedule);
  if (problem !== undefined) at.invalid(schedule, problem);
  if (!schedule.includes("TZ")) return;
  const isAllowed = old !== undefined && textOf(old, "schedule").includes("TZ");
  if (!isAllowed) {
    at.invalid(schedule, "cannot use TZ or CRON_TZ in schedule, use timeZone field instead");
  } else if (maybeText(spec, "timeZone") !== undefined) {
    at.invalid(schedule, "cannot use both timeZone field and TZ or CRON_TZ in schedule");
  }
}

function checkTimeZone(zone: string, at: Place): void {
  if (zone === "") {
    at.invalidWord(zone, "timeZone must be nil or non-empty string");
    return;
  }
  const isWritten = zone
    .split("/")
    .every(
      (part) =>
        part !== "." &&
        part !== ".." &&
        !part.startsWith("-") &&
        /^[A-Za-z.\-_0-9+]{1,14}$/.test(part),
    );
  if (!isWritten) {
    at.invalidWord(zone, `unknown time zone ${zone}`);
    return;
  }
  if (zone.toLowerCase() === "local") {
    at.invalidWord(
      zone,
      "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones",
    );
  }
  if (!isTimeZone(zone)) at.invalidWord(zone, `unknown time zone ${zone}`);
}
