// Probes of containers, and what runs when a container starts and stops.

import type { JsonObject } from "@keelson/base";

import { memberOf } from "../../../../object/member.ts";
import {
  has,
  listOf,
  maybeNumber,
  maybeObject,
  numberOf,
  objectOf,
  objectsOf,
  textOf,
} from "../../../../object/members.ts";
import type { Place } from "../../place.ts";
import { headerNameProblems, portNameProblems, portProblems } from "../../text-problems.ts";

/** Reports what is wrong with the three probes. `gracePeriod` is that of the Pod. */
export function checkProbes(
  container: JsonObject,
  at: Place,
  gracePeriod: number | undefined,
): void {
  for (const name of ["livenessProbe", "readinessProbe", "startupProbe"]) {
    const probe = maybeObject(container, name);
    if (probe === undefined) continue;
    const place = at.child(name);
    checkProbe(probe, place, gracePeriod);
    if (name === "readinessProbe") {
      const seconds = memberOf(probe, "terminationGracePeriodSeconds");
      if (seconds !== undefined) {
        place
          .child("terminationGracePeriodSeconds")
          .invalid(seconds, "must not be set for readinessProbes");
      }
    } else {
      const threshold = numberOf(probe, "successThreshold");
      if (threshold !== 1) place.child("successThreshold").invalid(threshold, "must be 1");
    }
  }
}

/** Stop signals are behind a gate that is off: they are gone before this is asked. */
export function checkLifecycle(
  container: JsonObject,
  at: Place,
  gracePeriod: number | undefined,
): void {
  const lifecycle = maybeObject(container, "lifecycle");
  if (lifecycle === undefined) return;
  for (const name of ["postStart", "preStop"]) {
    const handler = maybeObject(lifecycle, name);
    if (handler !== undefined) {
      checkHandler(handler, at.child("lifecycle").child(name), { gracePeriod, kinds: hookKinds });
    }
  }
}

/** Reports a port that is neither a number nor a name of one. */
export function checkPort(
  holder: JsonObject,
  at: Place,
  { name }: { readonly name: string },
): void {
  const port = memberOf(holder, name);
  if (typeof port === "string") at.child(name).invalidEach(port, portNameProblems(port));
  else {
    const number = numberOf(holder, name);
    at.child(name).invalidEach(number, portProblems(number));
  }
}

type HandlerKind = "exec" | "httpGet" | "tcpSocket" | "grpc" | "sleep";

const probeKinds: readonly HandlerKind[] = ["exec", "httpGet", "tcpSocket", "grpc"];
const hookKinds: readonly HandlerKind[] = ["exec", "httpGet", "tcpSocket", "sleep"];

const times: readonly string[] = [
  "initialDelaySeconds",
  "timeoutSeconds",
  "periodSeconds",
  "successThreshold",
  "failureThreshold",
];

function checkProbe(probe: JsonObject, at: Place, gracePeriod: number | undefined): void {
  checkHandler(probe, at, { gracePeriod, kinds: probeKinds });
  for (const name of times) {
    const value = numberOf(probe, name);
    if (value < 0) at.child(name).invalid(value, "must be greater than or equal to 0");
  }
  const seconds = maybeNumber(probe, "terminationGracePeriodSeconds");
  if (seconds !== undefined && seconds <= 0) {
    const shown = memberOf(probe, "terminationGracePeriodSeconds") ?? 0;
    at.child("terminationGracePeriodSeconds").invalid(shown, "must be greater than 0");
  }
}

function checkHandler(
  handler: JsonObject,
  at: Place,
  {
    gracePeriod,
    kinds,
  }: { readonly gracePeriod: number | undefined; readonly kinds: readonly HandlerKind[] },
): void {
  const found = kinds.filter((kind) => has(handler, kind));
  if (found.length === 0) at.required("must specify a handler type");
  for (const [index, kind] of found.entries()) {
    const place = at.child(kind);
    if (index > 0) place.forbidden("may not specify more than 1 handler type");
    else checkAction(objectOf(handler, kind), place, { kind, gracePeriod });
  }
}

function checkAction(
  action: JsonObject,
  at: Place,
  { kind, gracePeriod }: { readonly kind: HandlerKind; readonly gracePeriod: number | undefined },
): void {
  switch (kind) {
    case "exec":
      if (listOf(action, "command").length === 0) at.child("command").required();
      return;
    case "httpGet":
      checkHttpGet(action, at);
      return;
    case "tcpSocket":
    case "grpc":
      checkPort(action, at, { name: "port" });
      return;
    case "sleep": {
      const seconds = numberOf(action, "seconds");
      if (gracePeriod !== undefined && (seconds < 0 || seconds > gracePeriod)) {
        at.invalid(
          memberOf(action, "seconds") ?? 0,
          `must be non-negative and less than terminationGracePeriodSeconds (${gracePeriod})`,
        );
      }
    }
  }
}

function checkHttpGet(action: JsonObject, at: Place): void {
  if (textOf(action, "path") === "") at.child("path").required();
  checkPort(action, at, { name: "port" });
  const scheme = textOf(action, "scheme");
  if (scheme !== "HTTP" && scheme !== "HTTPS") {
    at.child("scheme").notSupported(scheme, ["HTTP", "HTTPS"]);
  }
  for (const header of objectsOf(action, "httpHeaders")) {
    const name = textOf(header, "name");
    at.child("httpHeaders").invalidEach(name, headerNameProblems(name));
  }
}
