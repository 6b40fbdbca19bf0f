import type { NewId } from "../platform/ids.ts";
import type { CancelReason, Order, OrderFact, OrderState, OrderStatus } from "./order.ts";

/** The actor of a change: a partner by the API, a caller of the back office, or the service itself. */
export type Actor = {
  readonly kind: "partner" | "operator" | "warehouse" | "merchant" | "support" | "monitoring" | "service";
  /** Null if the kind is enough. */
  readonly name: string | null;
  /** The id on the wire of the token that was used, such as `tok_01m7y7np16fe68bxp4h91tdmdn`. Absent or null: none. */
  readonly id?: string | null;
};

export const SERVICE: Actor = { kind: "service", name: null };
export const PARTNER: Actor = { kind: "partner", name: null };

/** The actor and the operation of a change, as the timeline shows them. */
export type TransitionCause = {
  readonly actor: Actor;
  /** The name of the transition, or of another operation, such as `route`. */
  readonly operation: string;
  /** As in `x-request-id`. Absent or null: no request caused the change. */
  readonly requestId?: string | null;
  /** The actor's own text, such as why a review was rejected. */
  readonly detail?: string | null;
  /** For a return: whether its goods go back into stock. */
  readonly restock?: boolean;
  /** For canceled lines: why they are, which their event says. */
  readonly cancelReason?: CancelReason;
};

/** An order before and after a transition. */
export type AppliedTransition<Read extends OrderState = Order> = TransitionCause & {
  readonly before: Read;
  readonly after: Read;
  /** The events to publish. */
  readonly facts: readonly OrderFact[];
};

/** An acceptance by the deadline. It changes no line and no shipment, so the order may be read without them. */
export type Acceptance<Read extends OrderState = OrderState> = AppliedTransition<Read> & {
  readonly operation: "accept";
  readonly facts: readonly [];
};

/** A transition that is to be stored. Only an acceptance may be of an order that was read without its lines. */
export type StorableTransition = AppliedTransition | Acceptance;

/** Common to all changes that are stored in one transaction. */
export type RecordContext = { readonly newId: NewId; readonly now: Date };

/** An entry of an order's timeline. */
export type TimelineEntry = {
  readonly id: string;
  readonly operation: string;
  readonly actor: Actor;
  /** As in `x-request-id`. Null if no request caused it. */
  readonly requestId: string | null;
  readonly detail: string | null;
  /** The shipment that was created or changed. Null if there is none. */
  readonly shipmentId: string | null;
  /** The order's status after the operation. */
  readonly status: OrderStatus;
  /** The order's hold reasons after the operation. */
  readonly holdReasons: readonly string[];
  readonly createdAt: Date;
};
