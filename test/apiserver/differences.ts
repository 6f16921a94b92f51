// Comparing what two servers said: which cases differ, where, and which differences are meant.

import { isJsonObject, type Json } from "@keelson/base";

import { compare, describeDifference, type Difference } from "../oracle/compare.ts";
import { allowedDifferences } from "./allowed-differences.ts";
import type { Case } from "./case.ts";
import type { Observation } from "./lab.ts";
import type { Recording } from "./run-cases.ts";
import { VainVersions } from "./vain-versions.ts";

export interface StepDifference {
  readonly name: string;
  readonly index: number;
  readonly step: string;
  readonly differences: readonly Difference[];
  readonly oracle: Json | undefined;
  readonly ours: Json | undefined;
  readonly sent: string;
}

export interface Comparison {
  readonly cases: number;
  readonly steps: number;
  readonly unexplained: readonly StepDifference[];
  /** How often each allowed difference was needed. */
  readonly explained: ReadonlyMap<string, number>;
}

/**
 * The first step of each case that differs without a reason: what follows it is often only its consequence.
 * `areBothReal`: the second may move versions in vain too, whenever a second ends between two of its steps.
 */
export function compareRecordings(
  cases: readonly Case[],
  oracle: Recording,
  ours: Recording,
  { areBothReal = false }: { readonly areBothReal?: boolean } = {},
): Comparison {
  const unexplained: StepDifference[] = [];
  const explained = new Map<string, number>();
  let steps = 0;
  for (const { name } of cases) {
    const left = oracle.get(name) ?? [];
    const right = ours.get(name) ?? [];
    steps += left.length;
    const versions = new VainVersions();
    const otherVersions = areBothReal ? new VainVersions() : undefined;
    for (let index = 0; index < Math.max(left.length, right.length); index += 1) {
      const [one, theirs] = [left[index], right[index]];
      const said = theirs?.answer ?? null;
      const followed = versions.follow(
        one?.answer ?? null,
        otherVersions === undefined ? said : otherVersions.renamed(said),
      );
      const answer = otherVersions?.follow(said, followed.oracle).oracle ?? said;
      const other = theirs === undefined ? undefined : { ...theirs, answer };
      if (followed.isVain) explained.set("S12", (explained.get("S12") ?? 0) + 1);
      const oracle = one === undefined ? undefined : { ...one, answer: followed.oracle };
      const difference = differenceAt(name, index, oracle, other);
      if (difference === undefined) continue;
      const reasons = difference.differences.map(
        (one) => allowedDifferences.find(({ explains }) => explains(one, difference))?.id,
      );
      if (reasons.includes(undefined)) {
        const rest = difference.differences.filter((_, at) => reasons[at] === undefined);
        unexplained.push({ ...difference, differences: rest });
        break;
      }
      for (const id of new Set(reasons)) {
        if (id !== undefined) explained.set(id, (explained.get(id) ?? 0) + 1);
      }
    }
  }
  return { cases: cases.length, steps, unexplained, explained };
}

/** A differing step for people. */
export function describe(difference: StepDifference): string {
  const { name, index, step, differences, oracle, ours, sent } = difference;
  const lines = differences.slice(0, 12).map((one) => `    ${describeDifference(one)}`);
  const more = differences.length > 12 ? [`    … and ${differences.length - 12} more`] : [];
  const status = (answer: Json | undefined): string =>
    isJsonObject(answer) ? `${JSON.stringify(answer["status"] ?? "")}${messageOf(answer)}` : "";
  return [
    name,
    `  step ${index + 1}: ${step}`,
    ...(sent === "" ? [] : [`  sent   ${sent}`]),
    `  oracle ${status(oracle)}`,
    `  ours   ${status(ours)}`,
    ...lines,
    ...more,
  ]
    .join("\n")
    .replaceAll(/[^\P{Cc}\n]/gu, "�");
}

function differenceAt(
  name: string,
  index: number,
  left: Observation | undefined,
  right: Observation | undefined,
): StepDifference | undefined {
  const step = left?.step ?? right?.step ?? "";
  const shared = {
    name,
    index,
    step,
    oracle: left?.answer,
    ours: right?.answer,
    sent: right?.sent ?? "",
  };
  if (left?.step !== right?.step) {
    const difference = { path: ".step", oracle: left?.step, ours: right?.step };
    const breaks = [left, right].map((one) => (one?.step === "broke" ? one.answer : undefined));
    const differences = [difference, { path: ".broke", oracle: breaks[0], ours: breaks[1] }];
    return { ...shared, differences };
  }
  const differences = compare(left?.answer, right?.answer);
  if (differences.length === 0) return undefined;
  return { ...shared, differences };
}

function messageOf(answer: Json): string {
  const body = isJsonObject(answer) ? answer["body"] : undefined;
  const message = isJsonObject(body) ? body["message"] : undefined;
  return typeof message === "string" ? ` ${message.slice(0, 300)}` : "";
}
