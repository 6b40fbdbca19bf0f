import type { Initiator } from "../../audit/initiator.ts";
import type { RefundRequest } from "../../ledger/refunds/refund.ts";
import type { Order } from "../../lifecycle/order.ts";
import type { Context } from "../../platform/context.ts";
import { isProblem, type Problem, validationFailed } from "../../platform/wire/problems.ts";
import { type FoundKey, transitionOrder } from "../changes/transition-order.ts";
import { hashReturnRequest } from "./hash-return-request.ts";
import { recordReturn } from "./record-return.ts";
import { type ReturnRequest, returnDetail, returnFacts, toReturn } from "./return-request.ts";
import { findReturnHash } from "./returns-sql.ts";

type ReturnedGoods = {
  readonly order: Order;
  /** An earlier request with the same reference recorded the return. */
  readonly replayed: boolean;
};

/**
 * Records goods of a real order that came back, with their refund if one is requested, all or nothing (decision 0088). An
 * order has one return for each reference: a retry changes nothing, and the order's lock lets it wait for the first
 * request (decision 0105). A return without a reference of its own has that of its refund (decision 0205).
 */
export async function returnGoods(
  context: Context,
  key: FoundKey,
  request: ReturnRequest,
  refund: RefundRequest | null,
  by: Initiator,
): Promise<ReturnedGoods | Problem> {
  const { restock = false, shipmentId, lines } = request;
  const reference = request.reference ?? refund?.reference ?? null;
  const facts = returnFacts(request);
  const requestHash =
    reference === null ? null : hashReturnRequest({ ...facts, shipmentId, lines, restock, refund });
  let earlierHash: Buffer | null = null;
  const order = await transitionOrder(context, key, {
    by,
    cause: { operation: "returnShipment", detail: returnDetail(facts), restock },
    async prepare(tx, locked) {
      earlierHash = reference === null ? null : await findReturnHash(tx, locked, reference);
      return locked;
    },
    transition(locked) {
      if (earlierHash === null || requestHash === null) return toReturn(locked, request);
      return earlierHash.equals(requestHash) ? null : referenceTaken(request);
    },
    async alongside(tx, change, at) {
      if (earlierHash !== null) return null;
      const requested = {
        ...facts,
        reference,
        requestHash,
        restock,
        refund,
        namesLines: lines !== undefined,
      };
      return recordReturn(tx, context, change, requested, by, at);
    },
  });
  return isProblem(order) ? order : { order, replayed: earlierHash !== null };
}

const referenceTaken = ({ reference }: ReturnRequest): Problem =>
  validationFailed([
    {
      pointer: reference === undefined ? "/refund/reference" : "/reference",
      detail: "was already used for a different return of the order",
    },
  ]);
