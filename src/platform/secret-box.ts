import { createCipheriv, createDecipheriv, createHash, randomBytes } from "node:crypto";

const ALGORITHM = "aes-256-gcm";
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const SEALED = /^v1\.([0-9a-f]{8})\.([A-Za-z0-9_-]+)$/;

/** Keeps signing secrets unreadable in the database and in its backups. */
export type SecretBox = {
  /** The id of the key that seals. */
  readonly keyId: string;
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
  /** Whether a key is among the box's, by its id. */
  knows(keyId: string): boolean;
};

/** Why a sealed secret cannot be read. It names the key by its id, and holds nothing of the key or the secret. */
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
 * Seals with AES-256-GCM. The first key seals and every key opens, so a new key is put in front of the old one, which
 * can go when nothing is sealed with it any more.
 * @param keys newest first, 32 bytes each. @throws RangeError without a key, or with one of another length
 */
export function createSecretBox(keys: readonly Buffer[]): SecretBox {
  const [first] = keys;
  if (first === undefined) throw new RangeError("A secret box needs a key.");
  if (keys.some((key) => key.length !== KEY_BYTES))
    throw new RangeError(`A secret box's keys have ${KEY_BYTES} bytes.`);
  const keysById = new Map(keys.map((key) => [idOf(key), key]));
  const keyId = idOf(first);

  function open(sealed: string, context: string): string {
    const parts = partsOf(sealed);
    const key = keysById.get(parts.keyId);
    if (key === undefined)
      throw new SecretBoxError("unknown-key", parts.keyId, `The key ${parts.keyId} is not configured.`);
    return unlock(key, parts, context);
  }

  return {
    keyId,
    seal: (plain, context) => `v1.${keyId}.${lock(first, plain, context)}`,
    open,
    keyIdOf: (sealed) => partsOf(sealed).keyId,
    knows: (id) => keysById.has(id),
  };
}

/** Short enough to read aloud. Of 256 random bits, 32 bits of a hash reveal nothing. */
const idOf = (key: Buffer): string => createHash("sha256").update(key).digest("hex").slice(0, 8);

type Parts = { keyId: string; bytes: Buffer };

function partsOf(sealed: string): Parts {
  const [, keyId, text] = SEALED.exec(sealed) ?? [];
  const bytes = Buffer.from(text ?? "", "base64url");
  if (keyId === undefined || bytes.length < NONCE_BYTES + TAG_BYTES)
    throw new SecretBoxError("malformed", null, "This is not a sealed secret.");
  return { keyId, bytes };
}

function lock(key: Buffer, plain: string, context: string): string {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(ALGORITHM, key, nonce, { authTagLength: TAG_BYTES }).setAAD(
    Buffer.from(context),
  );
  const text = Buffer.concat([cipher.update(plain, "utf8"), cipher.final()]);
  return Buffer.concat([nonce, text, cipher.getAuthTag()]).toString("base64url");
}

function unlock(key: Buffer, { keyId, bytes }: Parts, context: string): string {
  const decipher = createDecipheriv(ALGORITHM, key, bytes.subarray(0, NONCE_BYTES), {
    authTagLength: TAG_BYTES,
  });
  decipher.setAAD(Buffer.from(context)).setAuthTag(bytes.subarray(-TAG_BYTES));
  const text = decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES));
  try {
    return Buffer.concat([text, decipher.final()]).toString("utf8");
  } catch {
    const message = `The key ${keyId} does not open this: the secret was changed or belongs elsewhere.`;
    throw new SecretBoxError("not-authentic", keyId, message);
  }
}
