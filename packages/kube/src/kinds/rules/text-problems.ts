// The forms that texts in specs must have, with the words that tell why one does not.

import { byteLength } from "../../go-text/byte-order.ts";
import type { Problems } from "../../object/names.ts";

const none: Problems = [];

/** A number of a port. */
export function portProblems(port: number): Problems {
  return rangeProblems(port, 1, 65_535);
}

/** Ids of users and of groups. */
export function idProblems(id: number): Problems {
  return rangeProblems(id, 0, int32Max);
}

export const int32Max = 2_147_483_647;

export function rangeProblems(value: number, min: number, max: number): Problems {
  return value >= min && value <= max ? none : [`must be between ${min} and ${max}, inclusive`];
}

/** The name of a port (RFC 6335). */
export function portNameProblems(name: string): Problems {
  // Almost every name is so plain.
  if (/^[a-z][a-z0-9]{0,14}$/.test(name)) return none;
  const problems: string[] = [];
  if (byteLength(name) > 15) problems.push(longerThan(15));
  if (!/^[-a-z0-9]+$/.test(name)) {
    problems.push("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)");
  }
  if (!/[a-z]/.test(name)) problems.push("must contain at least one letter (a-z)");
  if (name.includes("--")) problems.push("must not contain consecutive hyphens");
  if (name.startsWith("-") || name.endsWith("-")) {
    problems.push("must not begin or end with a hyphen");
  }
  return problems;
}

/** A key of a ConfigMap or a Secret. */
export function configKeyProblems(key: string): Problems {
  const problems: string[] = [];
  if (byteLength(key) > 253) problems.push(longerThan(253));
  if (!/^[-._a-zA-Z0-9]+$/.test(key)) {
    problems.push(
      "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')",
    );
  }
  if (key === ".") problems.push("must not be '.'");
  else if (key === "..") problems.push("must not be '..'");
  else if (key.startsWith("..")) problems.push("must not start with '..'");
  return problems;
}

/** The name of an environment variable. */
export function envNameProblems(name: string): Problems {
  if (name === "") return ["environment variable name must be non-empty"];
  return /^[ -<>-~]*$/.test(name)
    ? none
    : [
        "a valid environment variable name must consist only of printable ASCII characters other than '='",
      ];
}

export function headerNameProblems(name: string): Problems {
  return /^[-A-Za-z0-9]+$/.test(name)
    ? []
    : [
        "a valid HTTP header must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', regex used for validation is '[-A-Za-z0-9]+')",
      ];
}

export function percentProblems(text: string): Problems {
  return /^[0-9]+%$/.test(text)
    ? []
    : [
        "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')",
      ];
}

const lenientLabel = "_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?";
const lenientSubdomain = `${lenientLabel}(\\.${lenientLabel})*`;
const lenientSubdomainPattern = new RegExp(`^${lenientSubdomain}$`);

/** A DNS subdomain that may have underscores: search paths. */
export function lenientSubdomainProblems(text: string): Problems {
  const problems: string[] = [];
  if (byteLength(text) > 253) problems.push(longerThan(253));
  if (text.length > 4096 || !lenientSubdomainPattern.test(text)) {
    problems.push(
      `a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '${lenientSubdomain}')`,
    );
  }
  return problems;
}

function longerThan(max: number): string {
  return `must be no more than ${max} characters`;
}
