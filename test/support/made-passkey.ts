import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";

const USER_PRESENT = 0x01;
const USER_VERIFIED = 0x04;
const HAS_KEY = 0x40;

/** A key of a device, with which it makes one passkey of `localhost` and signs in. */
export type Device = { readonly id: Buffer; readonly publicKey: KeyObject; readonly privateKey: KeyObject };

export const newDevice = (): Device => ({
  id: randomBytes(16),
  ...generateKeyPairSync("ec", { namedCurve: "P-256" }),
});

/** What a browser returns for a new passkey of `localhost` (WebAuthn, attestation "none"). */
export function madePasskey({
  challenge,
  isVerified,
  device = newDevice(),
}: {
  challenge: string;
  isVerified: boolean;
  device?: Device;
}) {
  const { id, publicKey } = device;
  const { x, y } = publicKey.export({ format: "jwk" });
  // A key of COSE in CBOR: elliptic curve, ES256, P-256, and the two coordinates.
  const key = ["a501020326200121", "5820", hexOf(x), "22", "5820", hexOf(y)].join("");
  const authData = Buffer.concat([
    sha256("localhost"),
    Buffer.from([USER_PRESENT | HAS_KEY | (isVerified ? USER_VERIFIED : 0), 0, 0, 0, 0]),
    Buffer.alloc(16), // No model of a device.
    Buffer.from([0, id.length]),
    id,
    Buffer.from(key, "hex"),
  ]);
  const attestation = Buffer.concat([
    Buffer.from("\u{63}fmt\u{64}none\u{67}attStmt", "latin1"),
    Buffer.from([0xa0]),
    Buffer.from("\u{68}authData", "latin1"),
    Buffer.from([0x58, authData.length]),
    authData,
  ]);
  return {
    ...credentialOf(id),
    response: {
      clientDataJSON: clientDataOf("webauthn.create", challenge).toString("base64url"),
      attestationObject: Buffer.concat([Buffer.from([0xa3]), attestation]).toString("base64url"),
      transports: ["internal"],
    },
  };
}

/** What a browser returns when the device signs a challenge. */
export function usedPasskey({ challenge, device }: { challenge: string; device: Device }) {
  const authData = Buffer.concat([
    sha256("localhost"),
    Buffer.from([USER_PRESENT | USER_VERIFIED, 0, 0, 0, 0]),
  ]);
  const clientData = clientDataOf("webauthn.get", challenge);
  const signed = Buffer.concat([authData, sha256(clientData)]);
  return {
    ...credentialOf(device.id),
    response: {
      clientDataJSON: clientData.toString("base64url"),
      authenticatorData: authData.toString("base64url"),
      signature: sign("sha256", signed, device.privateKey).toString("base64url"),
    },
  };
}

const credentialOf = (id: Buffer) => ({
  id: id.toString("base64url"),
  rawId: id.toString("base64url"),
  type: "public-key",
  clientExtensionResults: {},
});

const clientDataOf = (type: string, challenge: string): Buffer =>
  Buffer.from(JSON.stringify({ type, challenge, origin: "http://localhost:8081", crossOrigin: false }));

const sha256 = (data: Buffer | string): Buffer => createHash("sha256").update(data).digest();

const hexOf = (coordinate: string | undefined): string =>
  Buffer.from(coordinate ?? "", "base64url").toString("hex");
