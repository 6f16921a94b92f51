// The order of versions: v2 before v1, both before v2beta1, that before v2alpha1, then whatever else by its letters.

import { compareBytes } from "../go-text/byte-order.ts";
import { parseInteger } from "../selectors/label-selector.ts";

interface VersionParts {
  readonly major: bigint;
  /** 2 for a version alone, 1 for beta, 0 for alpha. */
  readonly stage: number;
  readonly minor: bigint;
}

/** Positive if `a` is the better version, negative if `b` is. */
export function compareVersions(a: string, b: string): number {
  if (a === b) return 0;
  const left = partsOf(a);
  const right = partsOf(b);
  if (left === undefined && right === undefined) return compareBytes(b, a);
  if (left === undefined) return -1;
  if (right === undefined) return 1;
  if (left.stage !== right.stage) return left.stage - right.stage;
  if (left.major !== right.major) return left.major > right.major ? 1 : -1;
  return left.minor < right.minor ? -1 : Number(left.minor > right.minor);
}

function partsOf(version: string): VersionParts | undefined {
  const found = /^v(\d+)(?:(alpha|beta)(\d+))?$/.exec(version);
  if (found === null) return undefined;
  const [, , stage] = found;
  const [major, minor] = [parseInteger(found[1]), parseInteger(found[3] ?? "0")];
  if (major === undefined || minor === undefined) return undefined;
  return { major, stage: stage === undefined ? 2 : stage === "beta" ? 1 : 0, minor };
}
