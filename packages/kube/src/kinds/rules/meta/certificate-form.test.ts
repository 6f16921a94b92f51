import assert from "node:assert/strict";
import { test } from "node:test";

import { caBundleProblem } from "./ca-bundle.ts";
import { authorityOf, certificateProblem, certificateRequestProblem } from "./certificate-form.ts";
import { decodePem } from "./pem.ts";

/** A self-signed authority, and a request for the name `minimal`. */
const authority = `-----BEGIN CERTIFICATE-----
MIIBQzCB66ADAgECAhAByS1k+S/e0iEpl4neFTKNMAoGCCqGSM49BAMCMBIxEDAO
BgNVBAMTB21pbmltYWwwHhcNMjYxMTE1MDkzODEwWhcNMjcxMTE1MTAzODEwWjAS
MRAwDgYDVQQDEwdtaW5pbWFsMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE3CR4
OPvwNSaz1S7rPLA+oLIbvEeggkgB/v84JxU5P1PddnRRSJdBLsfCxD0NrkAF5c6d
z1tjTd3PRq2UuJWBvqMjMCEwDwYDVR0TAQH/BAUwAwEB/zAOBgNVHQ8BAf8EBAMC
AYYwCgYIKoZIzj0EAwIDRwAwRAIgF/gh/XdX++X9we+WNkoZlBmebKNwWhHEjEpU
7KKxqw0CIFC7y7UnbeCpRI1cRp63f2QXsNVjR41bZHARrFufczbK
-----END CERTIFICATE-----
`;
const request = `-----BEGIN CERTIFICATE REQUEST-----
MIHMMHQCAQAwEjEQMA4GA1UEAxMHbWluaW1hbDBZMBMGByqGSM49AgEGCCqGSM49
AwEHA0IABNloXIF5w+HvgAso84y2ififeb08H+g6WcdFKMgf9yH+3/KKg0xUZKSD
IdYyGBY2IuuLPZoa8NN/MESm/6YPuPGgADAKBggqhkjOPQQDAgNIADBFAiEA05wX
EqhH8SKzDFhTj4v4WlYiVc0qcc6xdc4cSer1e50CID0sn22jN9nrVmzh3uRXXpc/
/KHNS+rEjBkKXxIO8roO
-----END CERTIFICATE REQUEST-----
`;
const broken = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";

test("a certificate is told from something else", () => {
  const bytesOf = (text: string): Uint8Array => decodePem(text).block?.bytes ?? new Uint8Array();
  const whole = bytesOf(authority);
  assert.equal(certificateProblem(whole), undefined);
  assert.deepEqual(authorityOf(whole), { isAuthority: true, isReadable: true });
  assert.equal(certificateProblem(bytesOf(broken)), "x509: malformed certificate");
  assert.equal(certificateProblem(Uint8Array.of(...whole, 0)), "x509: trailing data");
  assert.equal(certificateRequestProblem(bytesOf(request)), undefined);
});

const bundles: readonly (readonly [text: string, problem: string | undefined])[] = [
  ["", undefined],
  [authority, undefined],
  ["nothing", "unable to load root certificates: unable to parse bytes as PEM block"],
  [request, "unable to load root certificates: no valid certificate authority data seen"],
  [
    broken,
    "unable to load root certificates: failed to parse certificate: x509: malformed certificate",
  ],
];

test("a bundle is trusted if one certificate of it can be read", () => {
  for (const [text, problem] of bundles) assert.equal(caBundleProblem(btoa(text)), problem);
});
