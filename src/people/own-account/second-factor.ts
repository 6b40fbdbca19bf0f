import { recordAudit } from "../../audit/record-audit.ts";
import { type AuthAnswer, readAnswer } from "../auth/answers.ts";
import type { PersonSession } from "../sessions/session.ts";
import { byPerson } from "../sign-in/finish-sign-in.ts";
import type { People } from "../sign-in/people.ts";
import { headersOf, type Visitor } from "../sign-in/visitor.ts";
import { compareOwnCode } from "./compare-own-code.ts";
import { type TooManyAttempts, tryProof } from "./try-proof.ts";

/** better-auth asks for the password of a person who has one, beside the recent authentication. */
type Password = { readonly password?: string | undefined };

const bodyOf = ({ password }: Password) => (password === undefined ? {} : { password });

/** The secret for the person's device as a URI, and backup codes. It counts once a code of the device was verified. */
export const startSecondFactor = (
  people: People,
  opened: PersonSession,
  password: Password,
  visitor: Visitor,
): Promise<AuthAnswer | TooManyAttempts> =>
  tryProof(people, opened, visitor, async () =>
    readAnswer(
      await people.auth().api.enableTwoFactor({
        body: { ...bodyOf(password), method: "totp" },
        headers: headersOf(visitor),
        asResponse: true,
      }),
    ),
  );

/** Proves that the device has the secret: from now on a password alone does not suffice. */
export async function verifySecondFactor(
  people: People,
  opened: PersonSession,
  code: string,
  visitor: Visitor,
): Promise<AuthAnswer | TooManyAttempts> {
  const answer = await tryProof(people, opened, visitor, () =>
    compareOwnCode(people, opened, { code, isBackupCode: false }, visitor),
  );
  if (!("outcome" in answer) && answer.error === null && !opened.person.hasTwoFactor)
    await record(people, opened, visitor, "enableSecondFactor");
  return answer;
}

/** From now on a password alone suffices. */
export async function removeSecondFactor(
  people: People,
  opened: PersonSession,
  password: Password,
  visitor: Visitor,
): Promise<AuthAnswer | TooManyAttempts> {
  const answer = await tryProof(people, opened, visitor, async () =>
    readAnswer(
      await people.auth().api.disableTwoFactor({
        body: bodyOf(password),
        headers: headersOf(visitor),
        asResponse: true,
      }),
    ),
  );
  if (!("outcome" in answer) && answer.error === null)
    await record(people, opened, visitor, "disableSecondFactor");
  return answer;
}

/** New backup codes. The earlier ones are no longer valid. */
export async function renewBackupCodes(
  people: People,
  opened: PersonSession,
  password: Password,
  visitor: Visitor,
): Promise<AuthAnswer | TooManyAttempts> {
  const answer = await tryProof(people, opened, visitor, async () =>
    readAnswer(
      await people.auth().api.generateBackupCodes({
        body: bodyOf(password),
        headers: headersOf(visitor),
        asResponse: true,
      }),
    ),
  );
  if (!("outcome" in answer) && answer.error === null)
    await record(people, opened, visitor, "renewBackupCodes");
  return answer;
}

const record = (people: People, opened: PersonSession, visitor: Visitor, action: string): Promise<void> =>
  recordAudit(people.db, people, byPerson(opened, visitor, action), {
    merchantId: null,
    subject: "per",
    ids: [opened.person.id],
  });
