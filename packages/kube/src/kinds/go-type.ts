// How Go calls the types of fields in its messages: `v1.PodSpec`, `[]string`, `v1.ResourceList`.

/**
 * The Go type behind a type as `data/structs.json` writes it, if no part of it has a name of its own:
 * `*core.v1.PodSpec` is `*v1.PodSpec`.
 */
export function goTypeOf(type: string): string {
  if (type.startsWith("*")) return `*${goTypeOf(type.slice(1))}`;
  if (type.startsWith("[]")) return `[]${goTypeOf(type.slice(2))}`;
  const [, key, value] = /^map\[(\w+)\](.*)$/.exec(type) ?? [];
  if (key !== undefined && value !== undefined) return `map[${key}]${goTypeOf(value)}`;
  if (type === "bytes") return "[]uint8";
  if (type === "quantity.Quantity") return "resource.Quantity";
  return type.split(".").slice(-2).join(".");
}

/** What stands behind a Go type: its name, and the type of what is inside a list, map or pointer. */
interface GoTypeName {
  /** As a message prints it. */
  readonly name: string;
  readonly inside: string | undefined;
}

/** Takes a Go type apart. A named list or map is written `v1.Verbs=[]string`. */
export function readGoType(text: string): GoTypeName {
  const named = /^([\w.]+)=(.*)$/.exec(text);
  if (named !== null) {
    const [, name = "", what = ""] = named;
    return { name, inside: insideOf(what) };
  }
  return { name: printed(text), inside: insideOf(text) };
}

function insideOf(text: string): string | undefined {
  return /^(?:\*|\[\]|map\[[\w.]+\])(.*)$/.exec(text)?.[1];
}

/** Without what is said of named types inside. */
function printed(text: string): string {
  return text.replace(/=.*$/, "");
}
