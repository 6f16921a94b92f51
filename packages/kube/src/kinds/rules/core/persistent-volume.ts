import { maybeText, objectOf, textOf, writableOrMade } from "../../../object/members.ts";
import type { KindRules } from "../../kind-rules.ts";
import { Place } from "../place.ts";
import { checkVolumeChanges } from "./persistent-volume-changes.ts";
import { checkMountOptions, checkVolume } from "./persistent-volume-spec.ts";
import { volumeWarnings } from "./volume-warnings.ts";

export const persistentVolumeRules: KindRules = {
  prepareForCreate: (volume, { now }) => {
    volume["status"] = { phase: "Pending", lastPhaseTransitionTime: now };
  },
  prepareForStatusUpdate: (volume, old, { now }) => {
    const status = writableOrMade(volume, "status");
    const before = objectOf(old, "status");
    const isSame = textOf(status, "phase") === textOf(before, "phase");
    const [time, last] = [status, before].map((own) => maybeText(own, "lastPhaseTransitionTime"));
    if (isSame && time === undefined && last !== undefined)
      status["lastPhaseTransitionTime"] = last;
    if (!isSame && (time === undefined || time === last)) status["lastPhaseTransitionTime"] = now;
  },
  validate: (volume) => {
    const at = Place.root("spec");
    checkVolume(volume, at, undefined);
    checkMountOptions(volume, at);
    return at.errors;
  },
  validateUpdate: (volume, old) => {
    const at = Place.root("spec");
    checkVolume(volume, at, old);
    checkMountOptions(volume, at);
    // The real server judges the volume again with its changes: the causes tell each error of it twice.
    checkVolume(volume, at, old);
    checkVolumeChanges(objectOf(volume, "spec"), objectOf(old, "spec"), at);
    return at.errors;
  },
  validateStatusUpdate: () => [],
  warnings: volumeWarnings,
};
