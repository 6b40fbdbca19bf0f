import type { NewId } from "../platform/ids.ts";
import type { Order, OrderStatus } from "./order.ts";

/** Who requested a change: a partner by the API, a caller of the back office, or the service itself. */
export type Actor = {
  readonly kind: "partner" | "operator" | "warehouse" | "merchant" | "service";
  /** Null when the kind says it all. */
  readonly name: string | null;
};

export const SERVICE: Actor = { kind: "service", name: null };
export const PARTNER: Actor = { kind: "partner", name: null };

/** Who changes an order and how, as the timeline shows it. */
export type TransitionCause = {
  readonly actor: Actor;
  /** The name of the transition, or of another operation, such as `route`. */
  readonly operation: string;
  /** The actor's own text, such as why a review was rejected. */
  readonly detail?: string | null;
  /** Of a return: whether its goods go back into stock. */
  readonly restock?: boolean;
};

/** An order before and after a transition. */
export type AppliedTransition = TransitionCause & { readonly before: Order; readonly after: Order };

/** What everything that is stored in one transaction shares. */
export type RecordContext = { readonly newId: NewId; readonly now: Date };

/** An entry of an order's timeline. */
export type TimelineEntry = {
  readonly id: string;
  readonly operation: string;
  readonly actor: Actor;
  readonly detail: string | null;
  /** The shipment that was made or changed; null if none was. */
  readonly shipmentId: string | null;
  /** The order's status after the operation. */
  readonly status: OrderStatus;
  /** The order's hold reasons after the operation. */
  readonly holdReasons: readonly string[];
  readonly createdAt: Date;
};
