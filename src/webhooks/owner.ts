import { Type } from "typebox";
import type { AuditFact } from "../audit/audit-sql.ts";
import type { ConnectionKey } from "../platform/connection-key.ts";
import { toTypeId } from "../platform/ids.ts";
import { described, describedAs, enumeration, nullable } from "../platform/wire/schemas.ts";

/**
 * Stands for the warehouse where rows name a merchant: facilities serve all merchants and belong to none
 * (docs/design/deliveries.md, "Owners"). No merchant has this id, because those are UUIDv7.
 */
export const WAREHOUSE_ID = "00000000-0000-0000-0000-000000000001";

/** Who has endpoints, with events, deliveries and resends of its own: a partner's connection, a merchant or a facility. */
const OWNER_KINDS = ["connection", "merchant", "facility"] as const;
export type OwnerKind = (typeof OWNER_KINDS)[number];

/** A filter of lists of all owners. */
export const ownerField = Type.Optional(
  describedAs(
    enumeration(
      "WebhookOwner",
      OWNER_KINDS,
      described({
        connection: "a connection to a partner.",
        merchant: "the merchant itself.",
        facility: "a facility.",
      }),
    ),
    "Only endpoints of this kind of owner.",
  ),
);

/** A merchant as the owner of its own endpoints. */
export const merchantOwner = (merchantId: string): ConnectionKey => ({
  merchantId,
  connectionId: merchantId,
});

/** A facility as the owner of its endpoints. */
export const facilityOwner = (facilityId: string): ConnectionKey => ({
  merchantId: WAREHOUSE_ID,
  connectionId: facilityId,
});

/** These orders, and the same as events of facilities name them. */
export const alsoAtFacilities = <Order extends { readonly merchantId: string; readonly id: string }>(
  orders: readonly Order[],
): { readonly merchantId: string; readonly id: string }[] => [
  ...orders,
  ...orders.map(({ id }) => ({ merchantId: WAREHOUSE_ID, id })),
];

export function ownerKind({ merchantId, connectionId }: ConnectionKey): OwnerKind {
  if (merchantId === WAREHOUSE_ID) return "facility";
  return merchantId === connectionId ? "merchant" : "connection";
}

/** The ids of an owner as the back office shows them. Null for those that it does not have. */
export type WireOwner = {
  readonly merchantId: string | null;
  readonly connectionId: string | null;
  readonly facilityId: string | null;
};

export function toWireOwner(owner: ConnectionKey): WireOwner {
  const kind = ownerKind(owner);
  return {
    merchantId: kind === "facility" ? null : toTypeId("mer", owner.merchantId),
    connectionId: kind === "connection" ? toTypeId("con", owner.connectionId) : null,
    facilityId: kind === "facility" ? toTypeId("fac", owner.connectionId) : null,
  };
}

/** Names of an owner, null as its ids are. */
export type OwnerNames = {
  readonly connectionName: string | null;
  readonly merchantName: string | null;
  readonly facilityName: string | null;
};

export const ownerNameFields = {
  connectionName: nullable(Type.String(), "Name of the connection. Null if there is none."),
  merchantName: nullable(Type.String(), "Name of the merchant. Null for a facility."),
  facilityName: nullable(Type.String(), "Name of the facility. Null for all others."),
} as const;

/** A fact of the audit log about something of an owner. */
export function factOfOwner(
  owner: ConnectionKey,
  fact: Pick<AuditFact, "subject" | "ids" | "details">,
): AuditFact {
  switch (ownerKind(owner)) {
    case "connection":
      return { merchantId: owner.merchantId, connectionId: owner.connectionId, ...fact };
    case "merchant":
      return { merchantId: owner.merchantId, ...fact };
    case "facility":
      return { merchantId: null, ...fact, details: { ...fact.details, ...facilityDetails(owner) } };
  }
}

const facilityDetails = ({ connectionId }: ConnectionKey) => ({ facilityId: toTypeId("fac", connectionId) });
