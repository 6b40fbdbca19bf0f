import { createHmac } from "node:crypto";
import type { Person } from "../../src/people/person.ts";
import { type Browser, createPersonWithPassword, openBrowser, PASSWORD } from "./people.ts";
import type { TestService } from "./test-service.ts";

/** A person with a password and one-time codes, the first of which can be used. */
export async function createPersonWithCodes(service: TestService) {
  const { person, browser } = await createPersonWithPassword(service);
  const { uri, backupCodes } = (await browser.post("/auth/second-factor", { password: PASSWORD })).body;
  const { status } = await browser.post("/auth/second-factor/verify", { code: totp(service, uri) });
  if (status !== 204) throw new Error(`The codes were not set up: ${status}`);
  await passCodes(service);
  const backupCode = { code: String(backupCodes[0]), isBackupCode: true };
  return { person, browser, uri: String(uri), backupCode };
}

/** A browser on which a person has entered its password, and no code yet. */
export async function enterPassword(
  service: TestService,
  { email }: Pick<Person, "email">,
): Promise<Browser> {
  const browser = openBrowser(service);
  const { body } = await browser.post("/auth/sign-in/password", { email, password: PASSWORD });
  if (body.status !== "code-required") throw new Error(JSON.stringify(body));
  return browser;
}

/** The code of RFC 6238 that a device shows now. */
export function totp({ clock }: Pick<TestService, "clock">, uri: string, steps = 0): string {
  const secret = decodeBase32(new URL(uri).searchParams.get("secret") ?? "");
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(Math.floor(clock.now().getTime() / 30_000) + steps));
  const mac = createHmac("sha1", secret).update(counter).digest();
  const at = (mac.at(-1) ?? 0) & 15;
  return String((mac.readUInt32BE(at) & 0x7f_ff_ff_ff) % 1_000_000).padStart(6, "0");
}

/** As if the codes that were used had been those of two minutes before. */
export const passCodes = ({ db }: Pick<TestService, "db">) =>
  db.runScript("update person_one_time_codes set last_step = last_step - 4");

function decodeBase32(text: string): Buffer {
  const bits = [...text.replace(/=+$/, "")]
    .map((sign) => "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".indexOf(sign).toString(2).padStart(5, "0"))
    .join("");
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
}
