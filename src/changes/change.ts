/** The kinds of objects in the feed of changes (docs/design/event-feed.md, "The change feed of the back office"). */
export const CHANGE_KINDS = [
  "order",
  "shipment",
  "return",
  "refund",
  "charge",
  "product",
  "stock",
  "endpoint",
] as const;
export type ChangeKind = (typeof CHANGE_KINDS)[number];

type ChangeOf<Kind extends ChangeKind> = {
  readonly merchantId: string;
  readonly kind: Kind;
  /** Of stock: the product. */
  readonly objectId: string;
  /** What the change means to merchants and warehouses, in the order of the events. Absent: nothing. */
  readonly events?: readonly string[];
};

/** A change of an object, as the slice that writes the object records it. */
export type RecordedChange =
  | (ChangeOf<"order" | "shipment" | "return" | "refund" | "charge"> & {
      readonly orderId: string;
      /** The facility that the order was routed to before, if it is not any more. */
      readonly leftFacilityId?: string | null;
      /** The transaction has written `changed_at` of the order itself. */
      readonly isTimed?: boolean;
    })
  | ChangeOf<"product">
  | (ChangeOf<"stock"> & { readonly facilityId: string })
  /** Of a connection, of a facility, or of the merchant itself. */
  | (ChangeOf<"endpoint"> & {
      readonly connectionId: string | null;
      readonly facilityId: string | null;
      readonly isGone?: boolean;
    });

/** Changes of one transaction that are stored together: those of an order, of products, of the stock of a facility, or of an endpoint. */
export type StoredChange = {
  readonly merchantId: string;
  readonly id: string;
  readonly connectionId: string | null;
  readonly orderId: string | null;
  readonly facilityId: string | null;
  readonly leftFacilityId: string | null;
  readonly kinds: readonly ChangeKind[];
  readonly objectIds: readonly string[];
  readonly events: readonly string[];
  readonly isGone: boolean;
};
