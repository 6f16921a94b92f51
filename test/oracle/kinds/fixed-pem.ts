// What minimal objects carry of cryptography. Fixed, so that extracting twice gives the same data;
// the keys are not kept.

/** A request for the name `minimal`. */
export const certificateRequest = pem("CERTIFICATE REQUEST", [
  "MIHMMHQCAQAwEjEQMA4GA1UEAxMHbWluaW1hbDBZMBMGByqGSM49AgEGCCqGSM49",
  "AwEHA0IABNloXIF5w+HvgAso84y2ififeb08H+g6WcdFKMgf9yH+3/KKg0xUZKSD",
  "IdYyGBY2IuuLPZoa8NN/MESm/6YPuPGgADAKBggqhkjOPQQDAgNIADBFAiEA05wX",
  "EqhH8SKzDFhTj4v4WlYiVc0qcc6xdc4cSer1e50CID0sn22jN9nrVmzh3uRXXpc/",
  "/KHNS+rEjBkKXxIO8roO",
]);

/** A request of somebody who would be in the group `system:masters`. */
export const mastersRequest = pem("CERTIFICATE REQUEST", [
  "MIHmMIGNAgEAMCsxFzAVBgNVBAoMDnN5c3RlbTptYXN0ZXJzMRAwDgYDVQQDDAdz",
  "b21lb25lMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEAIXbJ0KoWnggK+oCkIwx",
  "YpsSFJCH9toC3F8MJvdDMjS2OlAoajWDFRkKzuw3or4r8BU8vGYzCJCnFLB7WPbF",
  "XqAAMAoGCCqGSM49BAMCA0gAMEUCIQDikZliySGcHoJuc/xxtzbKOAUiOX/dpgmG",
  "9eVShZSZBgIgDFluhJsT7jwvH4UYVcoalggy6e/3cn1MJXzEa9WdlT0=",
]);

/** A self-signed authority. */
export const authority = pem("CERTIFICATE", [
  "MIIBQzCB66ADAgECAhAByS1k+S/e0iEpl4neFTKNMAoGCCqGSM49BAMCMBIxEDAO",
  "BgNVBAMTB21pbmltYWwwHhcNMjYxMTE1MDkzODEwWhcNMjcxMTE1MTAzODEwWjAS",
  "MRAwDgYDVQQDEwdtaW5pbWFsMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE3CR4",
  "OPvwNSaz1S7rPLA+oLIbvEeggkgB/v84JxU5P1PddnRRSJdBLsfCxD0NrkAF5c6d",
  "z1tjTd3PRq2UuJWBvqMjMCEwDwYDVR0TAQH/BAUwAwEB/zAOBgNVHQ8BAf8EBAMC",
  "AYYwCgYIKoZIzj0EAwIDRwAwRAIgF/gh/XdX++X9we+WNkoZlBmebKNwWhHEjEpU",
  "7KKxqw0CIFC7y7UnbeCpRI1cRp63f2QXsNVjR41bZHARrFufczbK",
]);

/** Another one. */
export const otherAuthority = pem("CERTIFICATE", [
  "MIIBQDCB56ADAgECAhABHdSFXbPQ3RUOgOoUG2MtMAoGCCqGSM49BAMCMBAxDjAM",
  "BgNVBAMTBW90aGVyMB4XDTI2MTExNTA5MzgxMFoXDTI3MTExNTEwMzgxMFowEDEO",
  "MAwGA1UEAxMFb3RoZXIwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAASqPDRCp/E/",
  "JOjZUOO1ycpmiVzIL9/Lj5ejHMiNnvnmS85SSwX7EEViwB+g9rndqXbDEwf0O5Om",
  "snJAM2/1JimzoyMwITAPBgNVHRMBAf8EBTADAQH/MA4GA1UdDwEB/wQEAwIBhjAK",
  "BggqhkjOPQQDAgNIADBFAiBwj8L5fefkqMjXLmVc7+BhHpaH+uPDFegBdcJYMxv+",
  "vwIhAM1AHsX1SpUfR0IuxkJjt5cI8PMbw3MIRW5ayGMPRdcw",
]);

function pem(label: string, lines: readonly string[]): string {
  return `-----BEGIN ${label}-----\n${lines.join("\n")}\n-----END ${label}-----\n`;
}
