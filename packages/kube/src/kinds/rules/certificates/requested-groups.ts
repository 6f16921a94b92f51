// Which groups somebody would be in by the certificate that is asked for: the organizations of its subject.

import { bytesOfBase64 } from "../../../go-text/base64.ts";
import { derChildren, derHex, readDer, type DerValue } from "../meta/der.ts";
import { decodePem } from "../meta/pem.ts";

/** 2.5.4.10. */
const organization = "55040a";
const bmpString = 0x1e;

/** The groups that the `request` of a CertificateSigningRequest names; none where it has not the form of one. */
export function requestedGroups(request: string): readonly string[] {
  const bytes = decodePem(bytesOfBase64(request) ?? "").block?.bytes ?? new Uint8Array();
  const inside = (value: DerValue | undefined): readonly DerValue[] =>
    value === undefined ? [] : (derChildren(bytes, value) ?? []);
  const [body] = inside(readDer(bytes, 0, bytes.length));
  const [, subject] = inside(body);
  const groups: string[] = [];
  for (const set of inside(subject)) {
    for (const attribute of inside(set)) {
      const [type, value] = inside(attribute);
      if (type === undefined || value === undefined) continue;
      if (derHex(bytes, type) === organization) groups.push(textOf(bytes, value));
    }
  }
  return groups;
}

function textOf(bytes: Uint8Array, { tag, start, end }: DerValue): string {
  const encoding = tag === bmpString ? "utf-16be" : "utf-8";
  return new TextDecoder(encoding).decode(bytes.subarray(start, end));
}
