import { type Static, Type } from "typebox";
import { oldestShownId } from "../../events/event-feed.ts";
import { readEventBody } from "../../events/feed-sql.ts";
import type { KeyAccess } from "../../merchants/key-mode.ts";
import { SecretBoxError } from "../../platform/secret-box.ts";
import { nullable } from "../../platform/wire/schemas.ts";
import type { WebhookContext } from "../context.ts";
import { leaseMsOf } from "../dispatch/claim/lease.ts";
import { readSecrets } from "../secrets/secrets-sql.ts";
import { AttemptRequestSchema, attemptRequests } from "./attempt-request.ts";
import { AttemptSchema, type Delivery, DeliverySchema, NO_ATTEMPTS, toWireDelivery } from "./delivery.ts";
import { ATTEMPTS_OF_ONE, readAttempts } from "./delivery-log.ts";
import { readDelivery } from "./delivery-log-sql.ts";

export const DeliveryDetailsSchema = Type.Object(
  {
    ...DeliverySchema.properties,
    attempts: Type.Array(
      Type.Object(
        {
          ...AttemptSchema.properties,
          request: nullable(
            AttemptRequestSchema,
            "Null if it is not known whether a request was sent, and in earlier attempts if the bodies would be more than 1 MiB together.",
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

/** One delivery with its attempts and their requests (decision 0109). Null when the connection has no such delivery. */
export async function readDeliveryDetails(
  context: WebhookContext,
  access: KeyAccess,
  deliveryId: string,
  erasedAtOf: ErasedAt,
): Promise<{ delivery: Delivery; details: DeliveryDetails } | null> {
  const { db, clock, config } = context;
  const now = clock.now();
  const delivery = await readDelivery(db, access, deliveryId, now);
  if (delivery === null) return null;
  const logged =
    (await readAttempts(db, [{ ...delivery, merchantId: access.merchantId }], ATTEMPTS_OF_ONE)).get(
      delivery.id,
    ) ?? NO_ATTEMPTS;
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
  return { delivery, details: { ...wire, attempts } };
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
