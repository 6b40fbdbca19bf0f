import { api, dataOf } from "./client.ts";

type Json = Record<string, unknown>;

/** True if this browser has passkeys, and reads their options as the service writes them. */
export const hasPasskeys = (): boolean =>
  typeof PublicKeyCredential !== "undefined" && "parseRequestOptionsFromJSON" in PublicKeyCredential;

/** Signs in with a passkey of this device or of a key that is plugged in. Throws what the browser throws if it is given up. */
export async function signInWithPasskey() {
  const { options } = await dataOf(api.POST("/auth/sign-in/passkey-options", {}));
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(
    options as unknown as PublicKeyCredentialRequestOptionsJSON, // WebAuthn defines their form.
  );
  const response = jsonOf(await asked(navigator.credentials.get({ publicKey })));
  return dataOf(api.POST("/auth/sign-in/passkey", { body: { response } }));
}

/** Makes a passkey for the person who is signed in. */
export async function createPasskey(name: string) {
  const { options } = await dataOf(api.POST("/auth/passkeys/options", {}));
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(
    options as unknown as PublicKeyCredentialCreationOptionsJSON, // WebAuthn defines their form.
  );
  const response = jsonOf(await asked(navigator.credentials.create({ publicKey })));
  return dataOf(api.POST("/auth/passkeys", { body: { name, response } }));
}

/** Why the browser makes or gives no passkey: the device has one already, or the page has another address than passkeys. */
export class PasskeyProblem extends Error {
  readonly reason: "exists" | "address";

  constructor(reason: PasskeyProblem["reason"], cause: unknown) {
    super(`passkey: ${reason}`, { cause });
    this.reason = reason;
  }
}

async function asked(answer: Promise<Credential | null>): Promise<Credential | null> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof DOMException && error.name === "InvalidStateError")
      throw new PasskeyProblem("exists", error);
    if (error instanceof DOMException && error.name === "SecurityError")
      throw new PasskeyProblem("address", error);
    throw error;
  }
}

function jsonOf(credential: Credential | null): Json {
  if (!(credential instanceof PublicKeyCredential)) throw new Error("The browser returned no passkey.");
  return { ...credential.toJSON() };
}

/** The person closed the browser's dialog, or let its time pass. */
export const isGivenUp = (error: unknown): boolean =>
  error instanceof DOMException && ["NotAllowedError", "AbortError"].includes(error.name);
