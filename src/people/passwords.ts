import { randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from "node:crypto";

/** About 0.1 s and 32 MB for one hash, on a thread beside the others. Hashes keep the parameters that they were made with. */
const PARAMETERS = { log2N: 14, r: 16, p: 1 };
const HASH_BYTES = 64;

const FORM = /^scrypt\$(\d+)\$(\d+)\$(\d+)\$([\w-]+)\$([\w-]+)$/;

/** Its hash by scrypt, with its parameters and a salt of its own. */
export async function hashPassword(password: string): Promise<string> {
  const { log2N, r, p } = PARAMETERS;
  const salt = randomBytes(16);
  const hash = await derive(password, salt, PARAMETERS);
  return `scrypt$${log2N}$${r}$${p}$${salt.toString("base64url")}$${hash.toString("base64url")}`;
}

/**
 * Whether a password has a hash. It takes about the same time without one (null): the time of a response must not show which
 * addresses are known, or which people have a password.
 */
export async function isPassword(password: string, stored: string | null): Promise<boolean> {
  const [, log2N, r, p, salt = "", hash = ""] = FORM.exec(stored ?? "") ?? [];
  if (stored === null || hash === "") {
    await derive(password, randomBytes(16), PARAMETERS);
    return false;
  }
  const parameters = { log2N: Number(log2N), r: Number(r), p: Number(p) };
  const [expected, sent] = [
    Buffer.from(hash, "base64url"),
    await derive(password, Buffer.from(salt, "base64url"), parameters),
  ];
  return expected.length === sent.length && timingSafeEqual(expected, sent);
}

function derive(password: string, salt: Buffer, { log2N, r, p }: typeof PARAMETERS): Promise<Buffer> {
  const N = 2 ** log2N;
  const options: ScryptOptions = { N, r, p, maxmem: 2 * 128 * N * r };
  const text = password.normalize("NFKC"); // Keyboards send some signs in different forms.
  return new Promise((resolve, reject) =>
    scrypt(text, salt, HASH_BYTES, options, (error, key) => (error === null ? resolve(key) : reject(error))),
  );
}
