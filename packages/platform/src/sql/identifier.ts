// Names and texts inside SQL that takes no parameters. Nothing else puts a name into a statement.

/** A name as SQL text. */
export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** A text as SQL text, whatever the server thinks of backslashes. */
export function literal(text: string): string {
  const doubled = text.replaceAll("'", "''");
  return text.includes("\\") ? ` E'${doubled.replaceAll("\\", "\\\\")}'` : `'${doubled}'`;
}
