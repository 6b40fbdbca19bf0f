import { createHash, generateKeyPairSync, randomBytes } from "node:crypto";

const USER_PRESENT = 0x01;
const USER_VERIFIED = 0x04;
const HAS_KEY = 0x40;

/** What a browser returns for a new passkey of `localhost` (WebAuthn, attestation "none"). */
export function madePasskey({ challenge, isVerified }: { challenge: string; isVerified: boolean }) {
  const id = randomBytes(16);
  const { x, y } = generateKeyPairSync("ec", { namedCurve: "P-256" }).publicKey.export({ format: "jwk" });
  // A key of COSE in CBOR: elliptic curve, ES256, P-256, and the two coordinates.
  const key = ["a501020326200121", "5820", hexOf(x), "22", "5820", hexOf(y)].join("");
  const authData = Buffer.concat([
    createHash("sha256").update("localhost").digest(),
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
  const clientData = {
    type: "webauthn.create",
    challenge,
    origin: "http://localhost:8081",
    crossOrigin: false,
  };
  return {
    id: id.toString("base64url"),
    rawId: id.toString("base64url"),
    type: "public-key",
    clientExtensionResults: {},
    response: {
      clientDataJSON: Buffer.from(JSON.stringify(clientData)).toString("base64url"),
      attestationObject: Buffer.concat([Buffer.from([0xa3]), attestation]).toString("base64url"),
      transports: ["internal"],
    },
  };
}

const hexOf = (coordinate: string | undefined): string =>
  Buffer.from(coordinate ?? "", "base64url").toString("hex");
