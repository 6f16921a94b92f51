// The forms that names, labels and keys must have, with the words that tell why one does not.

import { byteLength } from "../go-text/byte-order.ts";

/** What is wrong with a text; nothing if it is right. */
export type Problems = readonly string[];

/** How the name of an object is judged; `asPrefix` for a `generateName`, to which more is added. */
export type NameRule = (name: string, options?: { readonly asPrefix?: boolean }) => Problems;

const label = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const subdomain = `${label}(\\.${label})*`;
const label1035 = "[a-z]([-a-z0-9]*[a-z0-9])?";
const keyName = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";
const value = `(${keyName})?`;

const patterns = {
  label: whole(label),
  subdomain: whole(subdomain),
  label1035: whole(label1035),
  keyName: whole(keyName),
  value: whole(value),
} as const;

const keyNameText =
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";

/** A DNS label (RFC 1123), at most 63 long: names of namespaces. */
export function dnsLabelProblems(text: string): Problems {
  const problems = lengthProblem(text, 63, "characters");
  if (!patterns.label.test(text)) {
    const isSubdomain = patterns.subdomain.test(text);
    problems.push(
      isSubdomain
        ? "must not contain dots"
        : patternText(
            "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character",
            label,
            ["my-name", "123-abc"],
          ),
    );
  }
  return problems;
}

/** A DNS subdomain (RFC 1123), at most 253 long: names of most objects. */
export function dnsSubdomainProblems(text: string): Problems {
  return subdomainProblems(text, "characters");
}

/** A DNS label (RFC 1035), at most 63 long: names of services. */
export function dns1035LabelProblems(text: string): Problems {
  const problems = lengthProblem(text, 63, "characters");
  if (!patterns.label1035.test(text)) {
    problems.push(
      patternText(
        "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character",
        label1035,
        ["my-name", "abc-123"],
      ),
    );
  }
  return problems;
}

/** A key of a label, an annotation or a finalizer: a name, before it perhaps a DNS subdomain and a slash. */
export function labelKeyProblems(text: string): Problems {
  const parts = text.split("/");
  const examples = ["MyName", "my.name", "123-abc"];
  if (parts.length > 2) {
    return [
      `a valid label key ${patternText(keyNameText, keyName, examples)} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
    ];
  }
  const problems: string[] = [];
  const [prefix, name] = parts.length === 1 ? [undefined, text] : [parts[0] ?? "", parts[1] ?? ""];
  if (prefix === "") problems.push("prefix part must be non-empty");
  else if (prefix !== undefined) {
    problems.push(...subdomainProblems(prefix, "bytes").map((problem) => `prefix part ${problem}`));
  }
  if (name === "") problems.push("name part must be non-empty");
  else problems.push(...lengthProblem(name, 63, "bytes").map((problem) => `name part ${problem}`));
  if (!patterns.keyName.test(name)) {
    problems.push(`name part ${patternText(keyNameText, keyName, examples)}`);
  }
  return problems;
}

/** The value of a label: empty, or as the name in a key. */
export function labelValueProblems(text: string): Problems {
  const problems = lengthProblem(text, 63, "bytes");
  if (!patterns.value.test(text)) {
    problems.push(
      patternText(
        `a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character`,
        value,
        ["MyValue", "my_value", "12345"],
      ),
    );
  }
  return problems;
}

/** Whatever can stand in a path of the API: names of RBAC objects. */
export function pathSegmentProblems(text: string): Problems {
  if (text === "." || text === "..") return [`may not be '${text}'`];
  return pathPrefixProblems(text);
}

/** Names that are DNS subdomains. */
export const subdomainNames: NameRule = (name, { asPrefix = false } = {}) =>
  dnsSubdomainProblems(asPrefix ? withoutTrailingDash(name) : name);

/** Names that are DNS labels. */
export const labelNames: NameRule = (name, { asPrefix = false } = {}) =>
  dnsLabelProblems(asPrefix ? withoutTrailingDash(name) : name);

/** Names that are DNS labels of the older kind. */
export const label1035Names: NameRule = (name, { asPrefix = false } = {}) =>
  dns1035LabelProblems(asPrefix ? withoutTrailingDash(name) : name);

/** Names that only need to fit into a path. */
export const pathSegmentNames: NameRule = (name, { asPrefix = false } = {}) =>
  asPrefix ? pathPrefixProblems(name) : pathSegmentProblems(name);

function subdomainProblems(text: string, unit: "characters" | "bytes"): string[] {
  const problems = lengthProblem(text, 253, unit);
  if (!patterns.subdomain.test(text)) {
    problems.push(
      patternText(
        "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
        subdomain,
        ["example.com"],
      ),
    );
  }
  return problems;
}

function pathPrefixProblems(text: string): Problems {
  return ["/", "%"]
    .filter((part) => text.includes(part))
    .map((part) => `may not contain '${part}'`);
}

/** The dash is judged with what comes after it, so it passes for a letter. */
function withoutTrailingDash(name: string): string {
  const isMasked = name.length > 1 && name.endsWith("-") && name.charCodeAt(name.length - 2) < 0x80;
  return isMasked ? `${name.slice(0, -2)}a` : name;
}

function lengthProblem(text: string, max: number, unit: "characters" | "bytes"): string[] {
  return byteLength(text) > max ? [`must be no more than ${max} ${unit}`] : [];
}

function whole(pattern: string): RegExp {
  return new RegExp(`^${pattern}$`);
}

function patternText(problem: string, pattern: string, examples: readonly string[]): string {
  // Two spaces before each "or": so Kubernetes says it.
  const listed = examples.map((example) => `'${example}', `).join(" or ");
  return `${problem} (e.g. ${listed}regex used for validation is '${pattern}')`;
}
