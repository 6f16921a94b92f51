// Names of the drivers of volumes and devices.

import { byteLength } from "../../../go-text/byte-order.ts";
import { goLowerCase } from "../../../go-text/lower-case.ts";
import { dnsSubdomainProblems } from "../../../object/names.ts";
import type { Place } from "../place.ts";

const bytesMax = 63;

/** Reports what is no name of a driver. */
export function checkDriverName(name: string, at: Place): void {
  if (name === "") {
    at.required();
    return;
  }
  if (byteLength(name) > bytesMax) at.tooLong(bytesMax);
  at.invalidEach(name, dnsSubdomainProblems(goLowerCase(name)));
}
