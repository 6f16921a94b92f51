// What an Application may be called. The names of what it owns are made of it.

import type { ValidationRule } from "@keelson/kube";

const reserved = ["master", "admin", "postgres", "public"];
const reservedPrefixes = ["kube-", "pg-"];

/** As the API server checks them, and the operator again. */
export const nameRules: readonly ValidationRule[] = [
  {
    rule: "self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",
    message:
      "metadata.name must begin with a letter and have lower-case letters, digits and hyphens, none at its end",
  },
  {
    rule: `!(self.metadata.name in [${reserved.map((name) => `'${name}'`).join(", ")}])`,
    message: `metadata.name is reserved, as are ${reserved.join(", ")}, ${reservedPrefixes.map((prefix) => `${prefix}*`).join(" and ")}`,
  },
  ...reservedPrefixes.map((prefix) => ({
    rule: `!self.metadata.name.startsWith('${prefix}')`,
    message: `metadata.name is reserved, as all that begin with ${prefix} are`,
  })),
];
