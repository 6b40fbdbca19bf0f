import { symmetricDecrypt, symmetricEncrypt } from "better-auth/crypto";
import type { SecretBox } from "../../platform/secret-box.ts";

/** The purpose of the keys that sign cookies and encrypt second factors. */
const PURPOSE = "people of the back office";

/** What signs cookies: a secret of the newest key. */
export const cookieSecretOf = (secrets: SecretBox): string => secrets.derive(PURPOSE)[0]?.secret ?? "";

/** The secrets of all keys as better-auth expects them, newest first. The first one encrypts, all decrypt. */
export const authSecrets = (secrets: SecretBox): { version: number; value: string }[] =>
  secrets.derive(PURPOSE).map(({ keyId, secret }) => ({ version: versionOf(keyId), value: secret }));

/** The library expects a number: the id of the key. */
const versionOf = (keyId: string): number => Number.parseInt(keyId, 16);

/** The id of the key that a version names. Null if no key can have it. */
export const keyIdOf = (version: number): string | null =>
  version > VERSION_MAX ? null : version.toString(16).padStart(KEY_ID_LENGTH, "0");

/** Hexadecimal digits. */
const KEY_ID_LENGTH = 8;
const VERSION_MAX = 16 ** KEY_ID_LENGTH - 1;

/** What better-auth writes before a text that it has encrypted with a key. */
export const beginningOf = (keyId: string): string => `$ba$${versionOf(keyId)}$`;

/** Encrypts and decrypts what better-auth stores of a second factor. */
export type FactorBox = {
  seal(text: string): Promise<string>;
  /** Null: no key that is configured decrypts it. */
  open(sealed: string): Promise<string | null>;
};

export function factorBoxOf(secrets: SecretBox): FactorBox {
  const keys = new Map(authSecrets(secrets).map(({ version, value }) => [version, value]));
  const key = { keys, currentVersion: versionOf(secrets.keyId) };
  return {
    seal: (text) => symmetricEncrypt({ key, data: text }),
    // The library throws plain errors: for another key, a changed text, and one that it has not encrypted.
    open: (sealed) => symmetricDecrypt({ key, data: sealed }).catch(() => null),
  };
}
