// Requests for certificates, signed in every way that is known, and wrongly.

import { constants, createHash, generateKeyPairSync, sign, type KeyObject } from "node:crypto";

const sequence = 0x30;
const integer = 0x02;
const bitString = 0x03;
const objectIdentifier = 0x06;

/** A value in DER. */
function der(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const body = Buffer.concat(parts);
  const { length } = body;
  const size =
    length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), body]);
}

function identifier(hex: string, ...parameters: readonly Uint8Array[]): Buffer {
  return der(sequence, der(objectIdentifier, Buffer.from(hex, "hex")), ...parameters);
}

const nothing = Buffer.from([0x05, 0x00]);
const withRsa = (last: string): Buffer => identifier(`2a864886f70d0101${last}`, nothing);
const withEcdsa = (last: string): Buffer => identifier(`2a8648ce3d04${last}`);
const sha256 = identifier("608648016503040201", nothing);
const pss = (salt: number): Buffer =>
  identifier(
    "2a864886f70d01010a",
    der(
      sequence,
      der(0xa0, sha256),
      der(0xa1, identifier("2a864886f70d010108", sha256)),
      der(0xa2, der(integer, Buffer.from([salt]))),
    ),
  );

interface Signing {
  readonly key: KeyObject;
  readonly algorithm: Buffer;
  readonly sign: (bytes: Buffer) => Buffer;
}

/** A request for the name `case`, PEM. */
function request(publicKey: KeyObject, { algorithm, sign }: Omit<Signing, "key">): string {
  const text = der(0x0c, Buffer.from("case"));
  const name = der(0x31, der(sequence, der(objectIdentifier, Buffer.from("550403", "hex")), text));
  const info = der(
    sequence,
    der(integer, Buffer.from([0])),
    der(sequence, name),
    publicKey.export({ type: "spki", format: "der" }),
    Buffer.from([0xa0, 0x00]),
  );
  const signature = der(bitString, Buffer.from([0]), sign(info));
  const body = der(sequence, info, algorithm, signature).toString("base64");
  const lines = body.match(/.{1,64}/g)?.join("\n") ?? "";
  return `-----BEGIN CERTIFICATE REQUEST-----\n${lines}\n-----END CERTIFICATE REQUEST-----\n`;
}

/** Every request with what is special about it. Keys are new each time; what is said of them is not. */
export function signedRequests(): readonly string[] {
  const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const small = generateKeyPairSync("rsa", { modulusLength: 1016 });
  const curve = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const edwards = generateKeyPairSync("ed25519");
  const salted = (saltLength: number) => (bytes: Buffer) =>
    sign("sha256", bytes, {
      key: rsa.privateKey,
      padding: constants.RSA_PKCS1_PSS_PADDING,
      saltLength,
    });
  const other = (signing: (bytes: Buffer) => Buffer) => (bytes: Buffer) =>
    signing(createHash("sha256").update(bytes).digest());
  const by = (key: KeyObject, hash: string | null) => (bytes: Buffer) => sign(hash, bytes, key);
  const ways: readonly (readonly [KeyObject, Buffer, (bytes: Buffer) => Buffer])[] = [
    [rsa.publicKey, withRsa("05"), by(rsa.privateKey, "sha1")],
    [rsa.publicKey, withRsa("0b"), by(rsa.privateKey, "sha256")],
    [rsa.publicKey, withRsa("0c"), by(rsa.privateKey, "sha384")],
    [rsa.publicKey, withRsa("0d"), by(rsa.privateKey, "sha512")],
    [rsa.publicKey, pss(32), salted(32)],
    [curve.publicKey, withEcdsa("01"), by(curve.privateKey, "sha1")],
    [curve.publicKey, withEcdsa("0302"), by(curve.privateKey, "sha256")],
    [curve.publicKey, withEcdsa("0303"), by(curve.privateKey, "sha384")],
    [edwards.publicKey, identifier("2b6570"), by(edwards.privateKey, null)],
    // Wrong signatures.
    [rsa.publicKey, withRsa("0b"), other(by(rsa.privateKey, "sha256"))],
    [rsa.publicKey, withRsa("0b"), by(rsa.privateKey, "sha384")],
    [rsa.publicKey, withRsa("0b"), salted(32)],
    [rsa.publicKey, pss(32), by(rsa.privateKey, "sha256")],
    [rsa.publicKey, pss(32), salted(20)],
    [curve.publicKey, withEcdsa("0302"), other(by(curve.privateKey, "sha256"))],
    [edwards.publicKey, identifier("2b6570"), other(by(edwards.privateKey, null))],
    [curve.publicKey, withEcdsa("0302"), () => Buffer.from("no signature")],
    // Ways that are not known, not safe or of another key.
    [rsa.publicKey, withRsa("04"), by(rsa.privateKey, "sha256")],
    [rsa.publicKey, pss(20), salted(20)],
    [rsa.publicKey, identifier("2b65707f"), by(rsa.privateKey, "sha256")],
    [rsa.publicKey, withEcdsa("0302"), by(rsa.privateKey, "sha256")],
    [curve.publicKey, withRsa("0b"), by(curve.privateKey, "sha256")],
    [edwards.publicKey, withEcdsa("0302"), by(edwards.privateKey, null)],
    [small.publicKey, withRsa("0b"), by(small.privateKey, "sha256")],
  ];
  return ways.map(([key, algorithm, signing]) => request(key, { algorithm, sign: signing }));
}
