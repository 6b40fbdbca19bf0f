import { type Static, Type } from "typebox";
import { HOLD_REASONS } from "../../../lifecycle/hold-reasons.ts";
import { enumeration, nullable } from "../../../platform/wire/schemas.ts";

const ATTENTION_KINDS = ["review", "hold", "not_routed", "endpoint_paused", "endpoint_failing"] as const;

export const countField = Type.Integer({
  minimum: 0,
  description: "How many there are. At most 1 000 of a connection count.",
});
export const queryField = Type.String({
  description: "The query string of the list behind the figure, without the question mark.",
  examples: ["onHold=true&holdReason=out_of_stock"],
});

export const AttentionSchema = Type.Object(
  {
    kind: enumeration(
      "AttentionKind",
      ATTENTION_KINDS,
      "`review`: orders wait for a review. `hold`: orders are on hold for a reason that a person must resolve. `not_routed`: accepted orders that were not routed within an hour. `endpoint_paused`, `endpoint_failing`: endpoints that get no events now. More values may be added.",
    ),
    reason: nullable(Type.String(), "The reason of a hold. Null for other kinds."),
    count: countField,
    list: enumeration(
      "AttentionList",
      ["orders", "webhook-endpoints"],
      "The list behind it. `orders`: that of orders. `webhook-endpoints`: that of endpoints.",
    ),
    query: queryField,
  },
  { title: "Attention", description: "Something that needs attention now." },
);

type Attention = Static<typeof AttentionSchema>;

export type HeldOrders = { readonly reason: string; readonly count: number };

/** The query strings of lists, each narrowed to a merchant. Null: not narrowed. */
export const queriesOf =
  (merchantId: string | null) =>
  (filters: Record<string, string>): string =>
    new URLSearchParams({ ...filters, ...(merchantId !== null && { merchantId }) }).toString();

type QueryOf = ReturnType<typeof queriesOf>;

export const withQuery = (hold: HeldOrders, queryOf: QueryOf) => ({
  ...hold,
  query: queryOf({ onHold: "true", holdReason: hold.reason }),
});

/** Orders that wait for a person: in review, on hold for a reason that the service knows, or not routed. */
export function attentionToOrders(
  holds: readonly HeldOrders[],
  waiting: { readonly inReview: number; readonly unrouted: number },
  queryOf: QueryOf,
): Attention[] {
  const ofOrders = (kind: Attention["kind"], count: number, filters: Record<string, string>): Attention => ({
    ...{ kind, reason: null, count },
    ...{ list: "orders", query: queryOf(filters) },
  });
  const known: readonly string[] = HOLD_REASONS;
  return [
    ofOrders("review", waiting.inReview, { status: "PROCESSING", sort: "oldest" }),
    ...holds
      .filter(({ reason }) => known.includes(reason))
      .map((hold): Attention => ({ ...withQuery(hold, queryOf), kind: "hold", list: "orders" })),
    ofOrders("not_routed", waiting.unrouted, { status: "ACCEPTED", ready: "false", sort: "oldest" }),
  ].filter(({ count }) => count > 0);
}

/** Endpoints that get no events now. */
export function attentionToEndpoints(
  { paused, failing }: { readonly paused: number; readonly failing: number },
  queryOf: QueryOf,
): Attention[] {
  const ofEndpoints = (kind: Attention["kind"], count: number, health: string): Attention => ({
    ...{ kind, reason: null, count },
    ...{ list: "webhook-endpoints", query: queryOf({ health }) },
  });
  return [
    ofEndpoints("endpoint_paused", paused, "paused"),
    ofEndpoints("endpoint_failing", failing, "failing"),
  ].filter(({ count }) => count > 0);
}
