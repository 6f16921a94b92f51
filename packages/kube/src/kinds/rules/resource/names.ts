// Names of devices, pools, attributes and claims.

import { byteLength } from "../../../go-text/byte-order.ts";
import { quote } from "../../../go-text/quote.ts";
import { dnsLabelProblems, dnsSubdomainProblems } from "../../../object/names.ts";
import type { Place } from "../place.ts";
import { checkDriverName } from "../meta/driver-name.ts";

const poolBytesMax = 253;
const idBytesMax = 32;

export function checkLabelName(name: string, at: Place): void {
  at.invalidEach(name, dnsLabelProblems(name));
}

export function checkPoolName(name: string, at: Place): void {
  if (name === "") {
    at.required();
    return;
  }
  if (byteLength(name) > poolBytesMax) at.tooLong(poolBytesMax);
  for (const part of name.split("/")) at.invalidEach(part, dnsSubdomainProblems(part));
}

/** Reports what is neither `name` nor `domain/name`. */
export function checkQualifiedName(name: string, at: Place): void {
  const parts = name.split("/");
  const [first = "", second = ""] = parts;
  if (parts.length === 1) checkIdentifier(first, at);
  else if (parts.length === 2) {
    if (first === "") at.invalid("", "the domain must not be empty");
    else checkDriverName(first, at);
    if (second === "") at.invalid("", "the name must not be empty");
    else checkIdentifier(second, at);
  }
}

/** Reports what is not `domain/name`. */
export function checkNameWithDomain(name: string, at: Place): void {
  checkQualifiedName(name, at);
  if (name.includes("/")) return;
  at.invalidWord(name, "a fully qualified name must be a domain and a name separated by a slash");
}

function checkIdentifier(id: string, at: Place): void {
  if (byteLength(id) > idBytesMax) at.tooLong(idBytesMax);
  if (/^[A-Za-z_][A-Za-z0-9_]*$/.test(id)) return;
  at.invalid(
    id,
    "a valid C identifier must start with alphabetic character or '_', followed by a string of alphanumeric characters or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName', regex used for validation is '[A-Za-z_][A-Za-z0-9_]*')",
  );
}

/** Reports what is no uid in its usual form. */
export function checkUid(uid: string, at: Place): void {
  const problem = uuidProblem(uid);
  if (problem !== undefined) at.invalid(uid, `error validating uid: ${problem}`);
  else if (byteLength(uid) !== 36 || uid !== uid.toLowerCase()) {
    const detail =
      "uid must be in RFC 4122 normalized form, `xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx` with lowercase hexadecimal characters";
    at.invalid(uid, detail);
  }
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

function uuidProblem(text: string): string | undefined {
  switch (byteLength(text)) {
    case 36:
      return uuid.test(text) ? undefined : "invalid UUID format";
    case 45: {
      const prefix = text.slice(0, 9);
      if (prefix.toLowerCase() !== "urn:uuid:") return `invalid urn prefix: ${quote(prefix)}`;
      return uuid.test(text.slice(9)) ? undefined : "invalid UUID format";
    }
    case 38:
      if (!text.startsWith("{") || !text.endsWith("}")) return "invalid bracketed UUID format";
      return uuid.test(text.slice(1, -1)) ? undefined : "invalid UUID format";
    case 32:
      return /^[0-9a-f]{32}$/i.test(text) ? undefined : "invalid UUID format";
    default:
      return `invalid UUID length: ${byteLength(text)}`;
  }
}
