import { createHmac, timingSafeEqual } from "node:crypto";
import { systemClock } from "../../platform/clock.ts";
import { SECOND_MS } from "../../platform/time.ts";
import { factorBoxOf } from "../auth/auth-secrets.ts";
import { takeCodeStep } from "../auth/used-codes-sql.ts";
import { readSealedCodes } from "../sealed-codes/sealed-codes-sql.ts";
import type { People } from "./people.ts";

/** RFC 6238 as better-auth does it: the step before and the one after are accepted as well, since clocks differ. */
const STEP_MS = 30 * SECOND_MS;
const STEPS_ACCEPTED = [1, 0, -1];

/**
 * Compares a one-time code of a person's device, and uses it up: it is accepted once, wherever it is sent (RFC 6238, section 5.2).
 * better-auth compares it again, but does not remember it. If the sign-in fails afterwards, the person waits for the next code.
 */
export async function useCode(people: People, personId: string, code: string): Promise<boolean> {
  const sealed = await readSealedCodes(people.db, personId);
  const secret = sealed === null ? null : await factorBoxOf(people.secrets).open(sealed.secret);
  if (secret === null) return false;
  const now = Math.floor(systemClock.now().getTime() / STEP_MS); // better-auth takes the time of the system.
  const step = STEPS_ACCEPTED.map((distance) => now + distance).find((at) => isCodeOf(secret, at, code));
  return step !== undefined && takeCodeStep(people.db, personId, step);
}

/** The code of a time step is that of HOTP (RFC 4226, section 5.3), with six digits. */
function isCodeOf(secret: string, step: number, code: string): boolean {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const mac = createHmac("sha1", secret).update(counter).digest();
  const offset = (mac.at(-1) ?? 0) & 0xf;
  const number = (mac.readUInt32BE(offset) & 0x7f_ff_ff_ff) % 1_000_000;
  const expected = Buffer.from(String(number).padStart(6, "0"));
  const sent = Buffer.from(code);
  return sent.length === expected.length && timingSafeEqual(sent, expected);
}
