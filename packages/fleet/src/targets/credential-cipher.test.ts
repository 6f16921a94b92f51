import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { seededRandom } from "@keelson/base";
import { CredentialCipher } from "./credential-cipher.ts";

const random = seededRandom("cipher");
const [oldKey, newKey] = [random.bytes(32), random.bytes(32)];

suite("the cipher of credentials", () => {
  const cipher = new CredentialCipher([oldKey], random);

  test("what it writes holds nothing of the text, never twice the same, and comes back", () => {
    const [one, two] = [cipher.encrypt("a secret", "prod"), cipher.encrypt("a secret", "prod")];
    assert.ok(!one.includes("secret"));
    assert.notDeepEqual(one, two);
    assert.deepEqual(
      [cipher.decrypt(one, "prod"), cipher.decrypt(two, "prod")],
      ["a secret", "a secret"],
    );
  });

  test("it belongs to its cluster, and no bit of it may change", () => {
    const stored = cipher.encrypt("a secret", "prod");
    assert.throws(() => cipher.decrypt(stored, "test"), { code: "CREDENTIAL_UNREADABLE" });
    for (let index = 0; index < stored.length; index++) {
      const changed = Buffer.from(stored);
      changed[index] = (changed[index] ?? 0) ^ 1;
      assert.throws(() => cipher.decrypt(changed, "prod"), { code: "CREDENTIAL_UNREADABLE" });
    }
    assert.throws(() => cipher.decrypt(stored.subarray(0, 20), "prod"), {
      code: "CREDENTIAL_UNREADABLE",
    });
  });

  test("the newest key encrypts, and older ones still open what they made", () => {
    const before = cipher.encrypt("a secret", "prod");
    const rotated = new CredentialCipher([newKey, oldKey], random);
    const after = rotated.encrypt("a secret", "prod");
    assert.deepEqual([rotated.isCurrent(before), rotated.isCurrent(after)], [false, true]);
    assert.equal(rotated.decrypt(before, "prod"), "a secret");
    assert.equal(new CredentialCipher([newKey], random).decrypt(after, "prod"), "a secret");
    assert.throws(() => cipher.decrypt(after, "prod"), /was encrypted with key [0-9a-f]{16}/);
  });
});
