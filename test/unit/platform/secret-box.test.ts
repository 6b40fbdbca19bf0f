import { randomBytes } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createSecretBox, SecretBoxError } from "../../../src/platform/secret-box.ts";

const key = () => randomBytes(32);
const SECRET = "whsec_c2VjcmV0";

function errorOf(act: () => unknown): SecretBoxError {
  try {
    act();
  } catch (error) {
    expect(error).toBeInstanceOf(SecretBoxError);
    expect(String(error)).not.toContain(SECRET);
    return error as SecretBoxError;
  }
  throw new Error("It did not throw.");
}

describe("a secret box", () => {
  it("decrypts what it has encrypted, for the same context", () => {
    const box = createSecretBox([key()]);
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), fc.string({ unit: "grapheme" }), (plain, context) => {
        expect(box.open(box.seal(plain, context), context)).toBe(plain);
      }),
    );
  });

  it("encrypts the same secret differently every time, and reveals nothing of it", () => {
    const box = createSecretBox([key()]);
    const sealed = Array.from({ length: 50 }, () => box.seal(SECRET, "endpoint-1"));
    expect(new Set(sealed).size).toBe(50);
    for (const text of sealed) expect(text).not.toContain(SECRET.slice(6));
  });

  it("does not decrypt a secret that was moved to another row", () => {
    const box = createSecretBox([key()]);
    const error = errorOf(() => box.open(box.seal(SECRET, "endpoint-1"), "endpoint-2"));
    expect(error).toMatchObject({ code: "not-authentic", keyId: box.keyId });
  });

  it("does not decrypt a secret with a changed character", () => {
    const box = createSecretBox([key()]);
    const sealed = box.seal(SECRET, "endpoint-1");
    for (let at = 0; at < sealed.length; at += 1) {
      const changed = `${sealed.slice(0, at)}${sealed[at] === "0" ? "1" : "0"}${sealed.slice(at + 1)}`;
      // The last character of the text has unused bits.
      if (Buffer.from(changed.slice(12), "base64url").equals(Buffer.from(sealed.slice(12), "base64url")))
        if (changed.slice(0, 12) === sealed.slice(0, 12)) continue;
      errorOf(() => box.open(changed, "endpoint-1"));
    }
  });

  it.each(["", "v1", "v1..", "v1.00000000.", "v1.00000000.AAAA", "v2.00000000.AAAA", SECRET])(
    "reports that %j is not an encrypted secret",
    (text) => {
      const box = createSecretBox([key()]);
      expect(errorOf(() => box.open(text, "")).code).toBe("malformed");
      expect(errorOf(() => box.keyIdOf(text)).code).toBe("malformed");
    },
  );
});

describe("several keys", () => {
  it("all decrypt, and the first one encrypts", () => {
    const [older, newer] = [key(), key()];
    const before = createSecretBox([older]);
    const during = createSecretBox([newer, older]);
    const after = createSecretBox([newer]);
    const old = before.seal(SECRET, "e");
    expect(during.open(old, "e")).toBe(SECRET);
    expect(during.keyIdOf(old)).toBe(before.keyId);
    const renewed = during.seal(during.open(old, "e"), "e");
    expect(during.keyIdOf(renewed)).toBe(during.keyId);
    expect(after.open(renewed, "e")).toBe(SECRET);
    expect(after.keyId).toBe(during.keyId);
  });

  it("are known by their ids", () => {
    const [one, two, other] = [createSecretBox([key()]), createSecretBox([key()]), createSecretBox([key()])];
    expect(one.knows(one.keyId)).toBe(true);
    expect(one.knows(two.keyId)).toBe(false);
    expect(other.knows("")).toBe(false);
    expect(one.keyId).toMatch(/^[0-9a-f]{8}$/);
  });

  it("report which key is missing", () => {
    const [one, two] = [createSecretBox([key()]), createSecretBox([key()])];
    const error = errorOf(() => two.open(one.seal(SECRET, "e"), "e"));
    expect(error).toMatchObject({ code: "unknown-key", keyId: one.keyId });
    expect(error.message).toContain(one.keyId);
  });

  it("must exist and have 32 bytes each", () => {
    expect(() => createSecretBox([])).toThrow(RangeError);
    expect(() => createSecretBox([randomBytes(16)])).toThrow(RangeError);
    expect(() => createSecretBox([key(), randomBytes(33)])).toThrow(RangeError);
  });
});
