// Names of signers: `example.com/signer`.

import { byteLength } from "../../../go-text/byte-order.ts";
import { quote } from "../../../go-text/quote.ts";
import { dnsLabelProblems, dnsSubdomainProblems } from "../../../object/names.ts";
import type { Place } from "../place.ts";

const domainBytesMax = 253;
const bytesMax = domainBytesMax + 1 + (253 + 63 + 1);

export function checkSignerName(name: string, at: Place): void {
  if (name === "") {
    at.required();
    return;
  }
  const segments = name.split("/");
  const [domain = "", path = ""] = segments;
  if (segments.length !== 2) {
    const detail =
      "must be a fully qualified domain and path of the form 'example.com/signer-name'";
    at.invalid(name, detail);
    return;
  }
  if (byteLength(domain) > domainBytesMax) at.tooLong(domainBytesMax);
  const labels = domain.split(".");
  checkLabels(labels, domain, { at, problemsOf: dnsLabelProblems });
  if (labels.length < 2) {
    at.invalid(domain, "should be a domain with at least two segments separated by dots");
  }
  checkLabels(path.split("."), path, { at, problemsOf: dnsSubdomainProblems });
  if (byteLength(name) > bytesMax) at.tooLong(bytesMax);
}

/** Reports the first label that is wrong. */
function checkLabels(
  labels: readonly string[],
  segment: string,
  {
    at,
    problemsOf,
  }: { readonly at: Place; readonly problemsOf: (label: string) => readonly string[] },
): void {
  const wrong = labels.find((label) => problemsOf(label).length > 0);
  if (wrong === undefined) return;
  for (const problem of problemsOf(wrong)) {
    at.invalid(segment, `validating label ${quote(wrong)}: ${problem}`);
  }
}
