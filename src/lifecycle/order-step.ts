import type { NewId } from "../platform/ids.ts";
import type { Order, OrderStatus } from "./order.ts";

/** Who took a step: a partner by the API, the service by itself, or a caller of the back office. */
export type Actor = {
  readonly kind: "partner" | "operator" | "warehouse" | "merchant" | "service";
  /** Null when the kind says it all. */
  readonly name: string | null;
};

export const SERVICE: Actor = { kind: "service", name: null };
export const PARTNER: Actor = { kind: "partner", name: null };

/** Who does what to an order, as the timeline shows it. */
export type StepCause = {
  readonly actor: Actor;
  /** The transition's name, or that of another step, such as `route`. */
  readonly action: string;
  /** In the words of whoever took the step, such as why a review was rejected. */
  readonly detail?: string | null;
  /** Of a return: whether its goods go back into stock. */
  readonly restock?: boolean;
};

/** An order before and after a step. */
export type OrderStep = StepCause & { readonly before: Order; readonly after: Order };

/** What every part of a step shares. */
export type RecordContext = { readonly newId: NewId; readonly now: Date };

/** A step as it lies in the table. */
export type TimelineEntry = {
  readonly id: string;
  readonly action: string;
  readonly actor: Actor;
  readonly detail: string | null;
  /** The shipment it was about; null when it was about none. */
  readonly shipmentId: string | null;
  /** As the order stood after the step. */
  readonly status: OrderStatus;
  readonly holdReasons: readonly string[];
  readonly createdAt: Date;
};
