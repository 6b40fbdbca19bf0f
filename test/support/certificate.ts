import { generateKeyPairSync, sign } from "node:crypto";

export type Certificate = { key: string; cert: string };

/** A self-signed certificate for a name and 127.0.0.1, made here so that the tests need no other program. */
export function makeCertificate({
  name = "localhost",
  days = 1,
}: {
  name?: string;
  days?: number;
} = {}): Certificate {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const now = Date.now();
  const until = now + days * 86_400_000;
  const ecdsaWithSha256 = sequence(identifier(0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02));
  const commonName = sequence(
    der(0x31, sequence(identifier(0x55, 0x04, 0x03), der(0x0c, Buffer.from(name)))),
  );
  const names = sequence(der(0x82, Buffer.from(name)), der(0x87, Buffer.from([127, 0, 0, 1])));
  const toBeSigned = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.from([1])),
    ecdsaWithSha256,
    commonName,
    sequence(time(Math.min(now, until) - 86_400_000), time(until)),
    commonName,
    publicKey.export({ type: "spki", format: "der" }),
    der(0xa3, sequence(sequence(identifier(0x55, 0x1d, 0x11), der(0x04, names)))),
  );
  const signature = der(0x03, Buffer.from([0]), sign("sha256", toBeSigned, privateKey));
  const bytes = sequence(toBeSigned, ecdsaWithSha256, signature);
  const lines = bytes.toString("base64").match(/.{1,64}/g) ?? [];
  return {
    key: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
    cert: ["-----BEGIN CERTIFICATE-----", ...lines, "-----END CERTIFICATE-----", ""].join("\n"),
  };
}

/** One value in the form of certificates: its kind, its length, its content. */
function der(tag: number, ...contents: Buffer[]): Buffer {
  const content = Buffer.concat(contents);
  const { length } = content;
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

const sequence = (...contents: Buffer[]) => der(0x30, ...contents);
const identifier = (...bytes: number[]) => der(0x06, Buffer.from(bytes));
const time = (at: number) =>
  der(0x17, Buffer.from(new Date(at).toISOString().replace(/^..|[-:T]|\.\d+/g, "")));
