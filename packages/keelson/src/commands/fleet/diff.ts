// `keelson diff`: where clusters differ from what they are to hold, field by field.

import { isJsonArray, isJsonObject, writeJson, type Json } from "@keelson/base";
import { quietFailure } from "../command-error.ts";
import { fieldPath } from "../output/field-path.ts";
import { valueText, type Output } from "../output/formats.ts";
import { selectToChange, type ChangeOptions } from "./change.ts";
import { fullName, type NamedResource } from "./resource-shapes.ts";
import type { Session } from "../session.ts";

/** A field that differs, as the API tells it. */
export interface DiffField {
  readonly path: string;
  readonly desired: Json;
  readonly applied: Json;
  readonly current: Json;
  readonly owner: string | null;
  readonly cause: "pending" | "drift" | "foreign";
}

export interface DiffOptions extends Pick<ChangeOptions, "filters" | "isAll"> {
  readonly output: Output;
  /** Whether fields that are other managers' alone are shown too. */
  readonly isForeign: boolean;
}

/** Shows them; ends as a failure where anything that is wanted is not there. */
export async function diff(
  session: Session,
  words: readonly string[],
  options: DiffOptions,
  signal: AbortSignal,
): Promise<void> {
  const { client, terminal } = session;
  const { output, isForeign } = options;
  const resources = await selectToChange(session, words, options, signal);
  const found: { readonly resource: NamedResource; readonly fields: readonly DiffField[] }[] = [];
  for (const resource of resources) {
    const answer = await client.get(`/resources/${resource.id}/diff`, {}, signal);
    const { fields } = answer as unknown as { readonly fields: readonly DiffField[] };
    found.push({ resource, fields });
  }
  const differs = found.some(({ fields }) => fields.some(isOurs));
  if (output === "json" || output === "yaml") {
    const shown = found.map(({ resource, fields }) => ({ ...resource, fields }));
    terminal.write(await valueText({ resources: shown } as unknown as Json, output));
  } else if (output === "name") {
    const names = found.filter(({ fields }) => fields.some(isOurs));
    terminal.write(names.map(({ resource }) => `${fullName(resource)}\n`).join(""));
  } else {
    for (const { resource, fields } of found) {
      const shown = fields.filter((field) => isForeign || isOurs(field));
      if (shown.length === 0) continue;
      terminal.write(await diffText(session, fullName(resource), shown));
      noteHidden(session, fullName(resource), fields.length - shown.length);
    }
    if (!differs && found.length > 0)
      terminal.note(resources.length === 1 ? "no difference" : "no differences");
  }
  if (differs) throw quietFailure();
}

/** Whether it concerns anything that we want: what others alone have said of an object is theirs. */
export function isOurs({ cause, desired }: DiffField): boolean {
  return cause !== "foreign" || desired !== null;
}

/** A heading, and for each field what is there (`-`) and what is wanted (`+`). */
export async function diffText(
  { paint }: Pick<Session, "paint">,
  heading: string,
  fields: readonly DiffField[],
  pendingText: (field: DiffField) => string = () => "not sent yet",
): Promise<string> {
  const count = fields.length === 1 ? "one field differs" : `${fields.length} fields differ`;
  let text = `${heading}: ${count}\n`;
  for (const field of fields) {
    const { path, desired, current } = field;
    text += `  ${fieldPath(path)}: ${causeText(field, pendingText)}\n`;
    if (isOurs(field)) {
      text += paintedLines(await linesOf(current), "-", (line) => paint("red", line));
      text += paintedLines(await linesOf(desired), "+", (line) => paint("green", line));
    } else text += paintedLines(await linesOf(current), " ", (line) => line);
  }
  return text;
}

function causeText(field: DiffField, pendingText: (field: DiffField) => string): string {
  const { cause, owner, desired } = field;
  switch (cause) {
    case "pending":
      return pendingText(field);
    case "drift":
      return owner === null ? "changed in the cluster" : `changed in the cluster by ${owner}`;
    case "foreign": {
      const whom = owner ?? "another manager";
      return desired === null ? `set by ${whom}` : `held by ${whom}`;
    }
  }
}

async function linesOf(value: Json): Promise<readonly string[]> {
  if (value === null) return [];
  if (!isJsonObject(value) && !isJsonArray(value)) return [writeJson(value)];
  return (await valueText(value, "yaml")).trimEnd().split("\n");
}

function paintedLines(
  lines: readonly string[],
  sign: string,
  paint: (line: string) => string,
): string {
  return lines.map((line) => `    ${paint(`${sign} ${line}`)}\n`).join("");
}

/** Says that there are fields which are not shown. */
export function noteHidden({ terminal }: Session, name: string, hidden: number): void {
  if (hidden === 0) return;
  const what = hidden === 1 ? "one field that" : `${hidden} fields that`;
  terminal.note(`${name}: other managers set ${what} nobody here asked for; --foreign shows`);
}
