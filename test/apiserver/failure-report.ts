// Differing cases by what seems to be their cause, the most frequent first.

import { isJsonObject, type Json } from "@keelson/base";

import { describe, type StepDifference } from "./differences.ts";

const shownMax = 2;

/** A page in Markdown. */
export function failureReport(failing: readonly StepDifference[], total: number): string {
  const groups = [...Map.groupBy(failing, causeOf)].toSorted(([, a], [, b]) => b.length - a.length);
  const sections = groups.map(([cause, members]) => {
    const names = members.map(({ name }) => `- ${name}`).slice(0, 12);
    const more = members.length > 12 ? [`- … and ${members.length - 12} more`] : [];
    const samples = members.slice(0, shownMax).map((one) => `\`\`\`\n${describe(one)}\n\`\`\``);
    return [`## ${members.length} × ${cause}`, ...names, ...more, "", ...samples].join("\n");
  });
  const head = `# ${failing.length} of ${total} cases differ, ${groups.length} causes`;
  return [head, ...sections].join("\n\n");
}

function causeOf({ differences, oracle, ours }: StepDifference): string {
  const statuses = `${statusOf(oracle)} → ${statusOf(ours)}`;
  const message = messageOf(ours);
  const differ = statusOf(oracle) !== statusOf(ours);
  if (differ && message !== "") return `${statuses}: ${plain(message).slice(0, 120)}`;
  const paths = new Set(
    differences.slice(0, 4).map(({ path }) => path.replaceAll(/\[[^\]]*\]/g, "[]")),
  );
  if (paths.has(".body.message") && message !== "") {
    return `${statuses}: ${plain(messageOf(oracle)).slice(0, 100)} | ours: ${plain(message).slice(0, 100)}`;
  }
  return `${statuses} ${[...paths].join(", ")}`;
}

/** A message without the names in it. */
function plain(message: string): string {
  return message.replaceAll(/"[^"]*"/g, '"…"').replaceAll(/\b(case|x|y|gen)-[\w-]+/g, "…");
}

function statusOf(answer: Json | undefined): string {
  if (isJsonObject(answer)) return JSON.stringify(answer["status"] ?? "");
  return answer === undefined ? "nothing" : "";
}

function messageOf(answer: Json | undefined): string {
  const body = isJsonObject(answer) ? answer["body"] : undefined;
  const message = isJsonObject(body) ? body["message"] : body;
  return typeof message === "string" ? message : "";
}
