import type { Queryable } from "../../platform/database/database.ts";
import { before } from "../../platform/time.ts";
import { countAttempts } from "../attempts/attempts-sql.ts";
import { WINDOW_MS } from "../attempts/limit-sign-ins.ts";
import type { PeopleContext } from "../context.ts";

/** Mails with a link that are sent to a person within WINDOW_MS, and as many again that its known browsers have requested. */
export const RESET_MAILS_MAX = 5;

/**
 * Counts a mail with a link to set a password, in the transaction that queues it. False: the person has got as many as are
 * sent. Strangers who request many neither fill the mailbox nor use up the mails that a known browser requests.
 */
export async function takeResetMail(
  tx: Queryable,
  { clock }: Pick<PeopleContext, "clock">,
  personId: string,
  isKnownBrowser: boolean,
): Promise<boolean> {
  const now = clock.now();
  const bucket = resetMails(personId, isKnownBrowser);
  const [counted] = await countAttempts(tx, [bucket], now, before(now, WINDOW_MS));
  return counted !== undefined && counted.count <= RESET_MAILS_MAX;
}

/** What the mails to a person are counted in. */
export const resetMails = (personId: string, isKnownBrowser: boolean): string =>
  `reset mails ${isKnownBrowser ? "of known browsers " : ""}${personId}`;
