import { type Grant, merchantScope } from "../audit/grant.ts";
import { limitReached } from "../merchants/limits.ts";
import { readMerchantMaximum } from "../merchants/merchants-sql.ts";
import type { Context } from "../platform/context.ts";
import type { Queryable } from "../platform/database/database.ts";
import { NO_UUID } from "../platform/ids.ts";
import { before, DAY_MS, SECOND_MS } from "../platform/time.ts";
import type { Problem } from "../platform/wire/problems.ts";
import { merchantsOfPerson, type Person } from "./person.ts";

/** How often one invitation is sent again. */
const RESENDS_MAX = 3;
/** Invitations within 24 hours by operators, all together. Those of a merchant have a limit of their own. */
export const OPERATOR_INVITATIONS_MAX = 1_000;

/**
 * For whom an invitation counts: the merchants of a person whom a merchant invites. Otherwise it counts for the operator, also if
 * the person is for a merchant: no limit is shared by both (docs/design/people.md, "Invitations").
 */
export const inviters = (giver: readonly Grant[], person: Pick<Person, "grants">): readonly string[] =>
  merchantScope(giver) === null ? [NO_UUID] : merchantsOfPerson(person);

type Clocked = Pick<Context, "clock">;

/** Null: these may send an invitation more now. The caller has locked the people. */
export async function reachedInvitations(
  tx: Queryable,
  { clock }: Clocked,
  inviterIds: readonly string[],
): Promise<Problem | null> {
  const now = clock.now();
  const counts = await readCounts(tx, inviterIds, now);
  const maximumFor = await readMerchantMaximum(tx, inviterIds, "invitationsPerDay");
  const full = counts.find(
    ({ id, count }) => count >= (id === NO_UUID ? OPERATOR_INVITATIONS_MAX : maximumFor(id)),
  );
  if (full === undefined) return null;
  const waitMs = full.countedFrom.getTime() + DAY_MS - now.getTime();
  const headers = { "retry-after": String(Math.max(1, Math.ceil(waitMs / SECOND_MS))) };
  return full.id === NO_UUID
    ? { ...operatorLimitReached, headers }
    : { ...limitReached("invitationsPerDay", maximumFor(full.id)), headers };
}

type DayCount = { readonly id: string; readonly count: number; readonly countedFrom: Date };

async function readCounts(db: Queryable, inviterIds: readonly string[], now: Date): Promise<DayCount[]> {
  const rows = await db.query<{ inviter_id: string; count: number; counted_from: Date }>({
    name: "read-invitation-counts",
    text: `
      select inviter_id, count, counted_from
      from invitation_counts
      where inviter_id = any($1::uuid[]) and counted_from > $2`,
    values: [inviterIds, before(now, DAY_MS)],
  });
  return rows.map(({ inviter_id: id, count, counted_from: countedFrom }) => ({ id, count, countedFrom }));
}

/** How many invitations a merchant has sent within 24 hours. */
export async function countInvitations(db: Queryable, merchantId: string, now: Date): Promise<number> {
  const [row] = await readCounts(db, [merchantId], now);
  return row?.count ?? 0;
}

/** Counts an invitation. The 24 hours begin with the first one. */
export async function countInvitation(
  tx: Queryable,
  { clock }: Clocked,
  inviterIds: readonly string[],
): Promise<void> {
  const now = clock.now();
  await tx.query({
    name: "count-invitation",
    text: `
      insert into invitation_counts as c (inviter_id, count, counted_from)
      select i.id, 1, $2
      from unnest($1::uuid[]) as i (id)
      on conflict (inviter_id) do update
      set count = case when c.counted_from <= $3 then 1 else c.count + 1 end,
          counted_from = case when c.counted_from <= $3 then $2 else c.counted_from end`,
    values: [inviterIds, now, before(now, DAY_MS)],
  });
}

/** Counts that the invitation of a person is sent again. A problem: as often as may be. */
export async function takeResend(tx: Queryable, personId: string): Promise<Problem | null> {
  const rows = await tx.query({
    name: "count-invitation-resend",
    text: `
      update people
      set invitation_resends = invitation_resends + 1
      where id = $1 and invitation_resends < $2
      returning id`,
    values: [personId, RESENDS_MAX],
  });
  return rows.length > 0 ? null : resendsReached;
}

const operatorLimitReached: Problem = {
  code: "limit-reached",
  detail: `The maximum of ${OPERATOR_INVITATIONS_MAX} invitations within 24 hours is reached. Retry tomorrow.`,
  members: { limit: "invitations", maximum: OPERATOR_INVITATIONS_MAX },
};

const resendsReached: Problem = {
  code: "limit-reached",
  detail: `The invitation was sent again ${RESENDS_MAX} times, which is the maximum. Check the mail address. The operator can make a link with which the person signs in.`,
  members: { limit: "invitationResends", maximum: RESENDS_MAX },
};
