import { type Static, Type } from "typebox";
import type { KeyAccess } from "../../merchants/api-key.ts";
import type { ConnectionKey } from "../../platform/connection-key.ts";
import type { Queryable } from "../../platform/database/database.ts";
import { momentOf, uuidAt } from "../../platform/ids.ts";
import { SecretBoxError } from "../../platform/secret-box.ts";
import { after, CLOCK_SKEW_MAX_MS, MINUTE_MS } from "../../platform/time.ts";
import { type PagePosition, toPage } from "../../platform/wire/cursor.ts";
import { nullable } from "../../platform/wire/schemas.ts";
import type { WebhookContext } from "../conditions-sql.ts";
import { leaseMsOf } from "../delivery/claim-sql.ts";
import { COMMON_HEADERS } from "../delivery/exchange.ts";
import { type EndpointSecrets, readSecrets, signingKey, signingSecretsAt } from "../endpoints/secrets.ts";
import { oldestShownId } from "../events/event-feed.ts";
import { readEventBody } from "../events/feed-sql.ts";
import { attemptRequest } from "../faults/delivery-fault.ts";
import { toWireOwner } from "../owner.ts";
import { type AllDeliveriesFilter, listAllDeliveries, type OwnedDelivery } from "./all-deliveries-sql.ts";
import {
  AttemptSchema,
  type Delivery,
  DeliverySchema,
  deliveryOwnerFields,
  type LoggedAttempt,
  type LoggedAttempts,
  NO_ATTEMPTS,
  toWireDelivery,
} from "./delivery.ts";
import {
  countDeliveryAttempts,
  type DeliveryFilter,
  type DeliveryKey,
  hasManyDeliveries,
  listAttempts,
  listDeliveries,
  listDeliveriesOfEndpoint,
  listDeliveriesOfOrder,
  readDelivery,
} from "./delivery-log-sql.ts";
import { BackOfficeDeliverySchema, type ExternalIdsOf, showDeliveries } from "./waits.ts";

/** In a list of all owners. */
export const OwnedDeliverySchema = Type.Object(
  { ...BackOfficeDeliverySchema.properties, ...deliveryOwnerFields },
  { title: "DeliveryOfOwner", description: "A delivery, with the owner of its endpoint." },
);

type WireDelivery = Static<typeof DeliverySchema>;
type Page<Wire> = { data: Wire[]; nextCursor: string | null };

/** Attempts of each delivery in a list. A delivery seldom has more than the 13 of its schedule. */
const ATTEMPTS_IN_LIST = 20;
/** Attempts of a delivery that is read on its own. */
const ATTEMPTS_OF_ONE = 100;
/** Attempts are counted up to this number. */
const COUNT_MAX = 10_000;
/** Characters of JSON that the responses on a page have together. */
const RESPONSES_MAX = 1_048_576;

/** A page of a connection's deliveries with their attempts, newest first. */
export async function readDeliveryPage(
  db: Queryable,
  access: KeyAccess,
  filter: DeliveryFilter,
  position: PagePosition,
  now: Date,
): Promise<Page<WireDelivery>> {
  const list = await listerFor(db, access, filter);
  const { deliveries, readTo } = await list(db, access, filter, position, now);
  return showPage(db, deliveries.map(ofConnection(access)), position, readTo, async () => toWireDelivery);
}

/** The same, as the back office shows it. */
export async function readBackOfficePage(
  db: Queryable,
  access: KeyAccess,
  filter: DeliveryFilter,
  position: PagePosition,
  { externalIdsOf, now }: { externalIdsOf: ExternalIdsOf; now: Date },
): Promise<Page<Static<typeof BackOfficeDeliverySchema>>> {
  const list = await listerFor(db, access, filter);
  const { deliveries, readTo } = await list(db, access, filter, position, now);
  return showPage(db, deliveries.map(ofConnection(access)), position, readTo, (shown) =>
    showDeliveries(db, shown, externalIdsOf, now),
  );
}

/** A page of the deliveries of all owners that a filter shows, with their attempts, newest first. */
export async function readAllDeliveriesPage(
  db: Queryable,
  filter: AllDeliveriesFilter,
  position: PagePosition,
  { externalIdsOf, now }: { externalIdsOf: ExternalIdsOf; now: Date },
): Promise<Page<Static<typeof OwnedDeliverySchema>>> {
  const { deliveries, readTo } = await listAllDeliveries(db, filter, position, now);
  return showPage(db, deliveries, position, readTo, async (shown) => {
    const show = await showDeliveries(db, shown, externalIdsOf, now);
    return (delivery, attempts) => ({ ...show(delivery, attempts), ...ownerOf(delivery) });
  });
}

const ownerOf = (delivery: OwnedDelivery) => ({
  ...toWireOwner(delivery),
  connectionName: delivery.connectionName,
  merchantName: delivery.merchantName,
  facilityName: delivery.facilityName,
});

async function showPage<Listed extends Delivery & DeliveryKey, Wire>(
  db: Queryable,
  deliveries: readonly Listed[],
  position: PagePosition,
  readTo: string | null,
  reader: (shown: readonly Listed[]) => Promise<(delivery: Listed, attempts: LoggedAttempts) => Wire>,
): Promise<Page<Wire>> {
  const shown = deliveries.slice(0, position.limit);
  const show = await reader(shown);
  const attempts = await readAttempts(db, shown, ATTEMPTS_IN_LIST);
  const toWire = (delivery: Listed) => show(delivery, attempts.get(delivery.id) ?? NO_ATTEMPTS);
  const fitting = countFitting(shown, attempts);
  // A page that would be too large ends earlier, as if its limit were lower.
  return fitting < shown.length
    ? toPage(deliveries, { ...position, limit: fitting }, toWire)
    : toPage(deliveries, position, toWire, readTo);
}

const ofConnection =
  ({ merchantId, connectionId }: ConnectionKey) =>
  (delivery: Delivery): Delivery & DeliveryKey => ({ ...delivery, merchantId, connectionId });

/** How many of these deliveries a page shows so that their responses fit; at least one. */
function countFitting(
  deliveries: readonly Delivery[],
  attempts: ReadonlyMap<string, LoggedAttempts>,
): number {
  let bytes = 0;
  const tooMany = deliveries.findIndex(({ id }) => {
    for (const { responseBody } of attempts.get(id)?.newest ?? [])
      bytes += responseBody === null ? 0 : JSON.stringify(responseBody).length;
    return bytes > RESPONSES_MAX;
  });
  return tooMany === -1 ? deliveries.length : Math.max(1, tooMany);
}

async function listerFor(
  db: Queryable,
  connection: ConnectionKey,
  filter: DeliveryFilter,
): Promise<typeof listDeliveries> {
  if (filter.orderId !== null && !(await hasManyDeliveries(db, connection, filter)))
    return listDeliveriesOfOrder;
  return filter.endpointId === null ? listDeliveries : listDeliveriesOfEndpoint;
}

/** One delivery with its attempts. Null when the connection has no such delivery. */
export async function readWireDelivery(
  db: Queryable,
  access: KeyAccess,
  deliveryId: string,
  now: Date,
): Promise<WireDelivery | null> {
  const delivery = await readDelivery(db, access, deliveryId, now);
  if (delivery === null) return null;
  const attempts = await readAttempts(db, [ofConnection(access)(delivery)], ATTEMPTS_OF_ONE);
  return toWireDelivery(delivery, attempts.get(delivery.id) ?? NO_ATTEMPTS);
}

/** The newest attempts by delivery, oldest first, and how many there are. */
async function readAttempts(
  db: Queryable,
  deliveries: readonly DeliveryKey[],
  limit: number,
): Promise<ReadonlyMap<string, LoggedAttempts>> {
  if (deliveries.length === 0) return new Map();
  const earliestMs = Math.min(...deliveries.map(({ id }) => momentOf(id).getTime()));
  const oldestId = uuidAt(new Date(earliestMs - CLOCK_SKEW_MAX_MS));
  const attempts = await listAttempts(db, deliveries, { oldestId, limit });
  const byDelivery = Map.groupBy(attempts, ({ deliveryId }) => deliveryId);
  // Only a delivery with a full list can have more.
  const full = deliveries.filter(({ id }) => byDelivery.get(id)?.length === limit);
  const counts = await countDeliveryAttempts(db, full, { oldestId, countMax: COUNT_MAX });
  return new Map(
    [...byDelivery].map(([id, newest]) => [id, { newest, count: counts.get(id) ?? newest.length }]),
  );
}

const header = (description: string) => Type.String({ description });

const AttemptRequestSchema = Type.Object(
  {
    headers: Type.Object(
      {
        "content-type": header("Always `application/json`."),
        "user-agent": header("The program. Its version is the present one."),
        "webhook-id": header("Id of the event."),
        "webhook-timestamp": header("When the attempt started, in seconds since 1970."),
        "webhook-signature": nullable(
          Type.String(),
          "The signatures, separated by spaces. Null if they are not known any more: the body is not, or a secret that signed has ended or was replaced about that time.",
        ),
      },
      {
        title: "DeliveryRequestHeaders",
        description:
          "Header fields of the request, beside those that every HTTP request has. The service sets them.",
      },
    ),
    body: nullable(
      Type.String(),
      "The whole body. Personal data that was erased since is erased here too. Null if the event is not kept any more: events are kept for 30 days.",
    ),
  },
  {
    title: "DeliveryRequest",
    description:
      "The request of an attempt, as it was sent, or would have been if the attempt failed earlier.",
  },
);
type AttemptRequest = Static<typeof AttemptRequestSchema>;

/** Characters of the bodies that the attempts of a delivery show together. The newest attempt always shows its body. */
const BODIES_MAX = 1_048_576;
/** A rotation or an erasure may commit so long after the time that it stores. */
const COMMIT_MAX_MS = MINUTE_MS;

/** What the requests of a delivery's attempts are made of again. Nothing of them is stored with the attempt. */
export type RequestParts = {
  /** The id of the event, as receivers know it. */
  readonly eventId: string;
  /** The body as it is stored now. Null if the event is not kept any more. */
  readonly body: string | null;
  /** When the personal data in the body was erased. Null if it is as it was. */
  readonly erasedAt: Date | null;
  readonly secrets: EndpointSecrets;
  /** Decrypts a signing secret. Null if it cannot be decrypted. */
  readonly open: (sealed: string) => string | null;
  /** How long a worker works with what it has read. */
  readonly leaseMs: number;
};

/** The requests of attempts that are given oldest first, in the same order. Null where it is not shown or not known. */
export function attemptRequests(
  attempts: readonly LoggedAttempt[],
  parts: RequestParts,
): (AttemptRequest | null)[] {
  const shown = Math.max(1, Math.floor(BODIES_MAX / Math.max(1, parts.body?.length ?? 0)));
  return attempts.map((attempt, index) =>
    index < attempts.length - shown || attempt.durationMs === null || attempt.fault === "dropped"
      ? null
      : requestOf(attempt, parts),
  );
}

function requestOf({ id: attemptId, startedAt, fault }: LoggedAttempt, parts: RequestParts): AttemptRequest {
  const { eventId: id, body } = parts;
  const secrets = body === null || isChangedSince(startedAt, parts) ? null : openedSecrets(startedAt, parts);
  const keys = (secrets ?? []).map(signingKey);
  const request = attemptRequest(body === null ? null : fault, {
    attemptId: attemptId ?? id,
    id,
    timestamp: startedAt,
    body: body ?? "",
    keys,
  });
  return {
    headers: {
      ...COMMON_HEADERS,
      ...request.headers,
      "webhook-signature": keys.length === 0 ? null : request.headers["webhook-signature"],
    },
    body: body === null ? null : request.body.toString(),
  };
}

/** True if the attempt may have sent the body as it was before an erasure. */
const isChangedSince = (startedAt: Date, { erasedAt, leaseMs }: RequestParts): boolean =>
  erasedAt !== null && startedAt < after(erasedAt, leaseMs + COMMIT_MAX_MS);

function openedSecrets(at: Date, { secrets, open, leaseMs }: RequestParts): string[] | null {
  const opened = signingSecretsAt(secrets, at, leaseMs + COMMIT_MAX_MS)?.map(({ sealed }) => open(sealed));
  const known = opened?.filter((secret) => secret !== null);
  return known !== undefined && known.length === opened?.length ? known : null;
}

export const DeliveryDetailsSchema = Type.Object(
  {
    ...DeliverySchema.properties,
    attempts: Type.Array(
      Type.Object(
        {
          ...AttemptSchema.properties,
          request: nullable(
            AttemptRequestSchema,
            "Null if none was sent or that is not known, and in earlier attempts if the bodies would be more than 1 MiB together.",
          ),
        },
        { title: "DeliveryAttemptDetails", description: "An attempt with its request and its response." },
      ),
      { description: "The newest attempts, oldest first, at most 100." },
    ),
  },
  { title: "DeliveryDetails", description: "A delivery with the requests of its attempts." },
);
export type DeliveryDetails = Static<typeof DeliveryDetailsSchema>;

/** When the personal data of an order was erased; null if it was not. Orders are above this layer. */
type ErasedAt = (orderId: string) => Promise<Date | null>;

/**
 * One delivery with its attempts and their requests (docs/design/signing.md, "The request of an attempt"). Null when the
 * connection has no such delivery.
 */
export async function readDeliveryDetails(
  context: WebhookContext,
  access: KeyAccess,
  deliveryId: string,
  erasedAtOf: ErasedAt,
): Promise<{ delivery: Delivery; logged: LoggedAttempts; details: DeliveryDetails } | null> {
  const { db, clock, config } = context;
  const now = clock.now();
  const delivery = await readDelivery(db, access, deliveryId, now);
  if (delivery === null) return null;
  const logged =
    (await readAttempts(db, [ofConnection(access)(delivery)], ATTEMPTS_OF_ONE)).get(delivery.id) ??
    NO_ATTEMPTS;
  const wire = toWireDelivery(delivery, logged);
  // The body first: a body from before an erasure is then never signed as the one from after it.
  const body = await readEventBody(db, access, delivery.eventId, oldestShownId(now), now);
  const requests = attemptRequests(logged.newest, {
    eventId: wire.eventId,
    body,
    leaseMs: leaseMsOf(config),
    erasedAt: delivery.orderId === null ? null : await erasedAtOf(delivery.orderId),
    secrets: await readSecrets(db, { ...access, id: delivery.endpointId }),
    open: (sealed) => openedOrNull(context, sealed, delivery.endpointId),
  });
  const attempts = wire.attempts.map((attempt, index) => ({ ...attempt, request: requests[index] ?? null }));
  return { delivery, logged, details: { ...wire, attempts } };
}

/** The worker logs a secret that it cannot decrypt. Here only the signature is missing. */
function openedOrNull({ secrets }: WebhookContext, sealed: string, endpointId: string): string | null {
  try {
    return secrets.open(sealed, endpointId);
  } catch (error) {
    if (error instanceof SecretBoxError) return null;
    throw error;
  }
}
