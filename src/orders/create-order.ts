import type { Static } from "typebox";
import { type Grouped, groupCalls } from "../database/group.ts";
import { type Problem, validationFailed } from "../http/problems.ts";
import type { Answer } from "../http/route.ts";
import type { Service } from "../service.ts";
import type { Order } from "./order.ts";
import { hashOrderRequest, normaliseOrderRequest, type OrderRequestSchema } from "./order-request.ts";
import { toWireCreatedOrder, wireOrderId } from "./order-wire.ts";
import { type Placed, type Placement, placeOrders } from "./place-orders.ts";
import type { ReadOrder } from "./read-order.ts";

type CreateOrder = (
  connectionId: string,
  idempotencyKey: string | undefined,
  body: Static<typeof OrderRequestSchema>,
) => Promise<Answer | Problem>;

/** Groups at the database at once: while one waits for its commit, the next is being written. */
const GROUPS_MAX = 2;
const GROUP_SIZE_MAX = 64;

/** POST /v1/orders. Specification, part 4; decisions 0001 to 0007. A retry is safe and answers the order as it stands now. */
export function orderCreator(service: Service, readOrder: ReadOrder): CreateOrder {
  const place = groupCalls<Placement, Placed>({
    run: (placements) => placeOrders(service, placements),
    sizeMax: GROUP_SIZE_MAX,
    concurrencyMax: GROUPS_MAX,
  });
  return async (connectionId, header, body) => {
    const request = normaliseOrderRequest(body);
    const idempotencyKey = header ?? request.externalOrderId;
    if (idempotencyKey === null) return KEY_MISSING;
    return answerPlacement(
      { connectionId, idempotencyKey, requestHash: hashOrderRequest(request), request },
      place,
      readOrder,
    );
  };
}

const KEY_MISSING: Problem = {
  problem: "idempotency-key-missing",
  detail: "Send an Idempotency-Key header, an externalOrderId, or both.",
};

const KEY_REUSED: Problem = {
  problem: "idempotency-key-reused",
  detail: "This idempotency key belongs to an earlier, different request.",
};

async function answerPlacement(
  placement: Placement,
  place: Grouped<Placement, Placed>,
  readOrder: ReadOrder,
): Promise<Answer | Problem> {
  const { connectionId } = placement;
  const placed = await place(placement);
  switch (placed.outcome) {
    case "created":
      return {
        status: 201,
        headers: { location: `/v1/orders/${wireOrderId(placed.order)}` },
        body: toWireCreatedOrder(placed.order),
      };
    case "replayed": {
      const { id, testMode } = placed.by;
      const order = await readOrder({
        connectionId,
        ref: { id, testMode, externalOrderId: wireOrderId(placed.by) },
      });
      // A test order that was erased in this very moment has freed its key, so the request is a new one.
      return order === null ? answerPlacement(placement, place, readOrder) : replay(order);
    }
    case "key-reused":
      return KEY_REUSED;
    case "external-id-taken":
      return alreadyExists(wireOrderId(placed.by), placement.request.externalOrderId);
    case "products-refused":
      return validationFailed(placed.faults);
    default:
      return placed satisfies never;
  }
}

const replay = (order: Order): Answer => ({
  status: 200,
  headers: { "idempotent-replayed": "true" },
  body: toWireCreatedOrder(order),
});

const alreadyExists = (orderId: string, externalOrderId: string | null): Problem => ({
  problem: "order-already-exists",
  detail: "Another order of this connection has this externalOrderId.",
  members: { orderId, externalOrderId },
});
