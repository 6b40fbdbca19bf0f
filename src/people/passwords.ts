import { randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from "node:crypto";
import { inTransaction } from "../platform/context.ts";
import type { Queryable } from "../platform/database/database.ts";
import type { Problem } from "../platform/wire/problems.ts";
import { hashToken } from "./cookies.ts";
import { bucketsOf, clear, passwordsOfLink, resetMailsOf, take, takeAttempt } from "./limit-attempts.ts";
import { deleteLinks, findPersonOfLink, isLinkToken, makeLink, PERSONAL_LINKS, useLink } from "./links.ts";
import { queuePersonMail, resetMail } from "./mails.ts";
import { lockPerson, readPersonByEmail } from "./people-sql.ts";
import { normalEmail, type PeopleContext, recordByPerson, type Visitor } from "./person.ts";
import { endSessions, signInFailed } from "./sessions.ts";

const RESET = ["reset"] as const;
const wrongLink = signInFailed("invalid-link");

/**
 * Sends a link by which a person sets a new password. The work for
 * a known address is done after the response, so that neither the response nor its time shows which addresses are known.
 */
export async function requestReset(
  context: PeopleContext,
  email: string,
  visitor: Visitor,
): Promise<Problem | null> {
  const account = normalEmail(email);
  const tooMany = await takeAttempt(context, { purpose: "reset", network: visitor.network, account });
  if (tooMany !== null) return tooMany;
  sendReset(context, account, visitor).catch((err: unknown) =>
    context.log.error({ err }, "mail to reset a password not queued"),
  );
  return null;
}

async function sendReset(context: PeopleContext, account: string, visitor: Visitor): Promise<void> {
  const found = await readPersonByEmail(context.db, account);
  if (found === null) return;
  await inTransaction(context, async (tx) => {
    const person = await lockPerson(tx, found.id);
    // Its address can have been changed since it was read: the mailbox of the earlier one must get no link.
    if (person?.disabledAt !== null || person.email !== account) return;
    if ((await take(tx, context, resetMailsOf(person.id))) !== null) return;
    const link = await makeLink(tx, context, person.id, "reset");
    await queuePersonMail(tx, context, person.email, resetMail(link));
    const details = { ipAddress: visitor.ipAddress };
    await recordByPerson(tx, context, person, visitor, "requestPasswordReset", details);
  });
}

/**
 * Sets a password with a link of a mail. All sessions and links of the person end, and it signs in with the new password.
 */
export async function resetPassword(
  context: PeopleContext,
  { token, password }: { readonly token: string; readonly password: string },
  visitor: Visitor,
): Promise<Problem | null> {
  const tokenHash = hashToken(token);
  // A password is hashed for the holder of a link alone, because that costs the processor much.
  const personId = isLinkToken(token)
    ? await findPersonOfLink(context.db, tokenHash, RESET, context.clock.now())
    : null;
  if (personId === null) return wrongLink;
  const tooMany = await take(context.db, context, passwordsOfLink(tokenHash));
  if (tooMany !== null) return tooMany;
  const passwordHash = await hashPassword(password);
  return inTransaction(context, async (tx) => {
    const person = await lockPerson(tx, personId);
    const kind = await useLink(tx, tokenHash, RESET, context.clock.now());
    if (person === null || kind === null) return wrongLink;
    await storePassword(tx, personId, passwordHash);
    await deleteLinks(tx, personId, PERSONAL_LINKS, context.clock.now());
    const sessionsEnded = await endSessions(tx, personId, null);
    // Strangers who have used up the attempts at the account must not keep the person from using its new password.
    const attempt = { purpose: "password", network: visitor.network, account: person.email } as const;
    await clear(tx, ...bucketsOf(attempt).slice(1));
    const details = { sessionsEnded, ipAddress: visitor.ipAddress };
    await recordByPerson(tx, context, person, visitor, "resetPassword", details);
    return null;
  });
}

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

/** The hash of a password, and its person. */
type StoredPassword = { readonly personId: string; readonly hash: string | null };

/** The password of the person with a mail address. The hash is null for a person without one. Null: no person has the address. */
export async function readPasswordOf(db: Queryable, email: string): Promise<StoredPassword | null> {
  const [row] = await db.query<StoredPassword>({
    name: "read-password-of-email",
    text: 'select id as "personId", password_hash as hash from people where email = $1',
    values: [email],
  });
  return row ?? null;
}

/** The hash of a person's password. Null: it has none. */
export async function readPasswordHash(db: Queryable, personId: string): Promise<string | null> {
  const [row] = await db.query<{ password_hash: string | null }>({
    name: "read-person-password",
    text: "select password_hash from people where id = $1",
    values: [personId],
  });
  return row?.password_hash ?? null;
}

/** Sets or removes (null) the password of a person. */
export async function storePassword(
  tx: Queryable,
  personId: string,
  passwordHash: string | null,
): Promise<void> {
  await tx.query({
    name: "store-person-password",
    text: "update people set password_hash = $2 where id = $1",
    values: [personId, passwordHash],
  });
}
