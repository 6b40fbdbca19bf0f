import {
  listEndedEndpoints,
  type MadePartOfEndpoint,
  markEndHandled,
  readMadeParts,
  setMadeParts,
} from "../../audit/made-parts-sql.ts";
import type { LockMaker } from "../../audit/maker.ts";
import { byService, type Initiator, recordAudit } from "../../audit/record-audit.ts";
import { queueMail } from "../../mail/mails-sql.ts";
import { oneLine, subjectWith } from "../../mail/one-line.ts";
import { type Context, inTransaction } from "../../platform/context.ts";
import { knownReachableOf } from "../../platform/database/citus.ts";
import type { Queryable } from "../../platform/database/database.ts";
import { toTypeId } from "../../platform/ids.ts";
import { listedEachPass, runInTurn } from "../../platform/run-in-turn.ts";
import { isProblem, type Problem, requireRecentAuthentication } from "../../platform/wire/problems.ts";
import { ownerKind } from "../owner.ts";
import { type Endpoint, type EndpointKey, endpointFact, wireEndpointId } from "./endpoint.ts";
import { lockEndpoint } from "./endpoints-sql.ts";
import { endpointName } from "./health.ts";
import { pauseEndpoint, readWarningContact, setPauseReason } from "./health-sql.ts";

// A token of the back office can set the address and the secret of an endpoint, and so can a key that it has issued. When the token ends,
// the endpoint is paused until a caller who may make endpoints takes it over (docs/design/people.md, "What a token makes").

/** What a caller is, where it takes over an endpoint. */
export type Taker = {
  readonly lockMaker: LockMaker;
  /** Null: the caller may make endpoints. */
  readonly mayNotMake: Problem | null;
};

/** Pauses the endpoints that ended tokens have set up. Returns how many. Also called after a revocation, so that it takes effect at once. */
export function pauseEndedEndpoints(context: Context, stopping?: AbortSignal): Promise<number> {
  return runInTurn(
    listedEachPass(async () =>
      knownReachableOf(context.db, await listEndedEndpoints(context.db, context.clock.now())),
    ),
    (endpoint) => pauseEndedEndpoint(context, endpoint),
    stopping,
  );
}

async function pauseEndedEndpoint(context: Context, key: EndpointKey): Promise<number> {
  const ended = await inTransaction(context, async (tx) => {
    const now = context.clock.now();
    const endpoint = await lockEndpoint(tx, key, key.id);
    if (!(await markEndHandled(tx, key.id, now)) || endpoint === null) return [];
    const parts = await readEndedParts(tx, key, now);
    if (await pauseEndpoint(tx, endpoint, "access-ended", now))
      await mailMerchant(tx, context, endpoint, parts, now);
    else await setPauseReason(tx, endpoint, "access-ended", now); // Another reason would let callers resume it who may not make endpoints.
    await recordAudit(
      tx,
      context,
      byService("pauseEndedEndpoint"),
      endpointFact(endpoint, { tokenIds: tokensOf(parts), tokens: namesOf(parts) }),
    );
    return parts;
  });
  if (ended.length === 0) return 0;
  context.signals.send("endpoints_changed", [key]); // A worker may hold deliveries that it has claimed and not sent.
  const ids = { endpoint: { id: wireEndpointId(key.id) }, tokenIds: tokensOf(ended) };
  context.log.warn(ids, "endpoint paused, its token has ended");
  return 1;
}

/**
 * Lets a caller take over what ended tokens have set of an endpoint that it activates. Null: nothing was to be taken over, or it was.
 * The caller of this function has locked the endpoint.
 */
export async function takeOverEnded(
  tx: Queryable,
  context: Context,
  endpoint: Endpoint,
  { lockMaker, mayNotMake }: Taker,
  by: Initiator,
): Promise<Problem | null> {
  const ended = await readEndedParts(tx, endpoint, context.clock.now());
  if (ended.length === 0) return null;
  if (mayNotMake !== null) return mayNotMake;
  requireRecentAuthentication(by);
  const maker = await lockMaker(tx);
  if (isProblem(maker)) return maker;
  await setMadeParts(
    tx,
    endpoint,
    ended.map(({ part }) => part),
    maker,
  );
  return null;
}

const readEndedParts = async (tx: Queryable, { id }: EndpointKey, now: Date): Promise<MadePartOfEndpoint[]> =>
  (await readMadeParts(tx, [id])).filter(({ endsAt }) => endsAt !== null && endsAt <= now);

const tokensOf = (parts: readonly MadePartOfEndpoint[]): string[] => [
  ...new Set(parts.map(({ tokenId }) => toTypeId("tok", tokenId))),
];
const namesOf = (parts: readonly MadePartOfEndpoint[]): string[] => [
  ...new Set(parts.map(({ tokenName }) => tokenName)),
];

/** The endpoint may be in production, and the end of its token years after its setup. So the merchant gets a mail, as at other pauses. */
async function mailMerchant(
  tx: Queryable,
  { newId }: Context,
  endpoint: Endpoint,
  parts: readonly MadePartOfEndpoint[],
  now: Date,
): Promise<void> {
  const contact = await readWarningContact(tx, endpoint);
  if (contact?.accountEmail == null) return;
  const isOwn = ownerKind(endpoint) === "merchant";
  const owner = `${isOwn ? "merchant" : "connection"} "${oneLine(contact.ownerName)}"`;
  const { merchantId, connectionId } = endpoint;
  await queueMail(tx, {
    ...{ merchantId, connectionId, id: newId(), now },
    recipient: contact.accountEmail,
    subject: subjectWith("A webhook endpoint was paused: ", oneLine(contact.ownerName)),
    body: `An endpoint of the ${owner} was paused:
  ${endpointName({ ...contact, endpointId: endpoint.id })}

Its ${parts.map(({ part }) => part).join(" and its ")} had been set with a token of the back office that has ended: ${namesOf(parts).map(oneLine).join(", ")}.
Nothing is sent to the endpoint any more. Its events are still recorded, and each is kept for 30 days.

If the endpoint is still needed, resume it: in the console, or with
  POST ${isOwn ? `/api/merchants/${toTypeId("mer", merchantId)}` : `/api/connections/${toTypeId("con", connectionId)}`}/webhook-endpoints/${wireEndpointId(endpoint.id)}/resume
Pending deliveries are then sent, and the endpoint does not depend on that token any more.
`,
  });
}
