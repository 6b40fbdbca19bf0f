import type { OrderKey } from "../../lifecycle/order.ts";

/** Orders that one person has taken from the work list of a facility (decision 0096). */
export type PickList = {
  readonly id: string;
  /** Null for orders without a facility. */
  readonly facilityId: string | null;
  readonly takenBy: string;
  /** The client's own name of the request. Null if it has none. */
  readonly reference: string | null;
  /** How many orders were requested. */
  readonly orderLimit: number;
  readonly takenAt: Date;
  /** From then on other people can take the orders. */
  readonly expiresAt: Date;
  readonly releasedAt: Date | null;
};

/** An order that can be shipped, and the pick list that it is on. */
export type WorkItem = OrderKey & {
  readonly pickList: Pick<PickList, "id" | "takenBy" | "expiresAt"> | null;
};

/** Orders on one pick list: what a person carries. */
export const PICK_LIST_ORDERS_MAX = 100;
