import type { ConnectionKey } from "../../platform/connection-key.ts";
import { isOutOfReach } from "../../platform/database/database.ts";
import { toTypeId } from "../../platform/ids.ts";

/** An order that could not be stored: it is skipped until the end of the run, where it is reported. */
export class OrderFailure extends Error {
  readonly connectionId: string;
  readonly orderId: string;

  /** @param step what could not be done with the order, as in "could not be routed" */
  constructor(connection: ConnectionKey, orderId: string, step: string, cause: unknown) {
    super(`Order ${toTypeId("ord", orderId)} could not be ${step}.`, { cause });
    this.connectionId = connection.connectionId;
    this.orderId = orderId;
  }
}

/** Those of a connection's orders that have failed in a round, by their ids. */
export const failedOrders = (failures: readonly unknown[], connection: ConnectionKey): string[] =>
  failures.flatMap((failure) =>
    failure instanceof OrderFailure && failure.connectionId === connection.connectionId
      ? [failure.orderId]
      : [],
  );

/** Orders of a connection that were to be changed together, and the cause of the failure. */
type FailedBatch = {
  readonly error: unknown;
  readonly connection: ConnectionKey;
  readonly orderIds: readonly string[];
  /** As in "could not be routed". */
  readonly step: string;
};

/**
 * Repeats the transition for orders of a failed batch, each alone, so that one that cannot be stored does not delay the
 * others. Returns the failures of those that fail alone as well.
 * @throws the batch's error, if no order is to blame; and the error of an unavailable database, which concerns all of
 *   them.
 */
export async function goPastFailures(
  { error, connection, orderIds, step }: FailedBatch,
  takeAlone: (orderId: string) => Promise<unknown>,
): Promise<OrderFailure[]> {
  if (isOutOfReach(error) || orderIds.length === 0) throw error;
  const failures: OrderFailure[] = [];
  for (const orderId of orderIds) {
    try {
      await takeAlone(orderId);
    } catch (error) {
      if (isOutOfReach(error)) throw error;
      failures.push(new OrderFailure(connection, orderId, step, error));
    }
  }
  return failures;
}
