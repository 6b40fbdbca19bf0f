import { inRequestOrder } from "../lifecycle/lines.ts";
import type { Order, OrderLine, OrderStatus, ShipmentStatus } from "../lifecycle/order.ts";
import type { Metadata } from "./note-schemas.ts";

/**
 * The state of an order that was read: the transaction that wrote its row, and when it last changed. Every change of an
 * order, of its lines or of its shipments writes the order's row (decision 0178).
 */
type OrderVersion = { readonly writtenBy: string; readonly updatedAt: string };

/** An order as it is stored, and its version. */
export type VersionedOrder = { readonly order: Order; readonly version: OrderVersion };

/** An order as a statement returns it, its lines and shipments as JSON. */
export type OrderRow = {
  merchant_id: string;
  connection_id: string;
  id: string;
  test_mode: boolean;
  external_order_id: string | null;
  status: OrderStatus;
  hold_reasons: string[];
  first_name: string;
  last_name: string;
  name: string | null;
  company: string | null;
  address1: string;
  address2: string | null;
  city: string;
  zip: string;
  state_code: string | null;
  country_code: string;
  phone: string | null;
  note: string | null;
  metadata: Metadata | null;
  created_at: Date;
  updated_at: Date;
  acceptance_due_at: Date | null;
  expires_at: Date | null;
  last_sequence: number;
  routed_at: Date | null;
  facility_id: string | null;
  canceled_at: Date | null;
  written_by: string;
  lines: OrderLine[];
  shipments:
    | {
        id: string;
        status: ShipmentStatus;
        carrier: string | null;
        weightGrams: number | null;
        trackingNumber: string | null;
        trackingUrl: string | null;
        createdAt: string;
        shippedAt: string | null;
        deliveredAt: string | null;
      }[]
    | null;
};

export const toVersionedOrder = (row: OrderRow): VersionedOrder => ({
  order: toOrder(row),
  version: { writtenBy: row.written_by, updatedAt: row.updated_at.toISOString() },
});

export function toOrder(row: OrderRow): Order {
  return {
    merchantId: row.merchant_id,
    connectionId: row.connection_id,
    id: row.id,
    testMode: row.test_mode,
    externalOrderId: row.external_order_id,
    status: row.status,
    holdReasons: row.hold_reasons,
    shippingAddress: {
      firstName: row.first_name,
      lastName: row.last_name,
      name: row.name,
      company: row.company,
      address1: row.address1,
      address2: row.address2,
      city: row.city,
      zip: row.zip,
      stateCode: row.state_code,
      countryCode: row.country_code,
      phone: row.phone,
    },
    note: row.note,
    metadata: row.metadata ?? {},
    lines: inRequestOrder(row.lines),
    shipments: (row.shipments ?? []).map((shipment) => ({
      ...shipment,
      createdAt: new Date(shipment.createdAt),
      shippedAt: toDate(shipment.shippedAt),
      deliveredAt: toDate(shipment.deliveredAt),
    })),
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    acceptanceDueAt: row.acceptance_due_at,
    expiresAt: row.expires_at,
    lastSequence: row.last_sequence,
    routedAt: row.routed_at,
    facilityId: row.facility_id,
    canceledAt: row.canceled_at,
  };
}

/** JSON has times as texts. */
const toDate = (text: string | null): Date | null => (text === null ? null : new Date(text));
