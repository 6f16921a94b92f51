import { pathSegmentNames } from "../../../object/names.ts";
import type { KindRules } from "../../kind-rules.ts";
import { anyEventErrors } from "../events/any-event.ts";

/** Events of the core group: no more is asked of them than of any Event. */
export const eventRules: KindRules = {
  names: pathSegmentNames,
  takesBareFinalizers: true,
  validate: (event) =>
    anyEventErrors(event, {
      about: "involvedObject",
      reporter: "reportingComponent",
      text: "message",
    }),
};
