import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createSecretKey,
  type KeyObject,
  randomBytes,
} from "node:crypto";

const ALGORITHM = "aes-256-gcm";
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const SEALED = /^v1\.([0-9a-f]{8})\.([A-Za-z0-9_-]+)$/;

/** Encrypts signing secrets, so that the database and its backups do not reveal them. */
export type SecretBox = {
  /** The id of the key that encrypts. */
  readonly keyId: string;
  /** The ids of all its keys, newest first. They reveal nothing about the keys. */
  readonly keyIds: readonly string[];
  /**
   * @param context what the secret belongs to, such as its endpoint's id: a sealed secret that was moved to another
   *   row does not open there.
   */
  seal(plain: string, context: string): string;
  /** @throws SecretBoxError */
  open(sealed: string, context: string): string;
  /**
   * The id of the key that encrypted a secret. If it is not `keyId`, the secret should be encrypted again. @throws
   * SecretBoxError
   */
  keyIdOf(sealed: string): string;
  /** True if the box has the key with this id. */
  knows(keyId: string): boolean;
};

/** Why a sealed secret cannot be decrypted. It contains the id of the key, but neither the key nor the secret. */
export class SecretBoxError extends Error {
  readonly code: "malformed" | "unknown-key" | "not-authentic";
  readonly keyId: string | null;
  constructor(code: SecretBoxError["code"], keyId: string | null, message: string) {
    super(message);
    this.name = "SecretBoxError";
    this.code = code;
    this.keyId = keyId;
  }
}

/**
 * Seals with AES-256-GCM. The first key seals and every key opens, so put a new key before the old one. The old
 * one can be removed once no secret is sealed with it.
 * @param keys newest first, 32 bytes each. @throws RangeError without a key, or with one of another length
 */
export function createSecretBox(keys: readonly Buffer[]): SecretBox {
  const [first] = keys;
  if (first === undefined) throw new RangeError("A secret box needs at least one key.");
  if (keys.some((key) => key.length !== KEY_BYTES))
    throw new RangeError(`The keys of a secret box must have ${KEY_BYTES} bytes.`);
  // Prepared once: with the bytes of the key, opening a secret takes six times as long.
  const keysById = new Map(keys.map((key) => [keyIdOf(key), createSecretKey(key)]));
  const sealingKey = createSecretKey(first);
  const keyId = keyIdOf(first);

  function open(sealed: string, context: string): string {
    const parts = partsOf(sealed);
    const key = keysById.get(parts.keyId);
    if (key === undefined)
      throw new SecretBoxError("unknown-key", parts.keyId, `The key ${parts.keyId} is not configured.`);
    return unlock(key, parts, context);
  }

  return {
    keyId,
    keyIds: [...keysById.keys()],
    seal: (plain, context) => `v1.${keyId}.${lock(sealingKey, plain, context)}`,
    open,
    keyIdOf: (sealed) => partsOf(sealed).keyId,
    knows: (id) => keysById.has(id),
  };
}

/** Short enough to read aloud. 32 bits of a hash reveal nothing about 256 random bits. */
export const keyIdOf = (key: Buffer): string => createHash("sha256").update(key).digest("hex").slice(0, 8);

type Parts = { keyId: string; bytes: Buffer };

function partsOf(sealed: string): Parts {
  const [, keyId, text] = SEALED.exec(sealed) ?? [];
  const bytes = Buffer.from(text ?? "", "base64url");
  if (keyId === undefined || bytes.length < NONCE_BYTES + TAG_BYTES)
    throw new SecretBoxError("malformed", null, "This is not a sealed secret.");
  return { keyId, bytes };
}

function lock(key: KeyObject, plain: string, context: string): string {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(ALGORITHM, key, nonce, { authTagLength: TAG_BYTES }).setAAD(
    Buffer.from(context),
  );
  const text = Buffer.concat([cipher.update(plain, "utf8"), cipher.final()]);
  return Buffer.concat([nonce, text, cipher.getAuthTag()]).toString("base64url");
}

function unlock(key: KeyObject, { keyId, bytes }: Parts, context: string): string {
  const decipher = createDecipheriv(ALGORITHM, key, bytes.subarray(0, NONCE_BYTES), {
    authTagLength: TAG_BYTES,
  });
  decipher.setAAD(Buffer.from(context)).setAuthTag(bytes.subarray(-TAG_BYTES));
  const text = decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES));
  try {
    return Buffer.concat([text, decipher.final()]).toString("utf8");
  } catch {
    const message = `The key ${keyId} does not decrypt this secret: it was changed, or belongs to another row.`;
    throw new SecretBoxError("not-authentic", keyId, message);
  }
}
