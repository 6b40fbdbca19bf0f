/** What names a product in the tables. */
export type ProductKey = { readonly merchantId: string; readonly id: string };

/** How much of a product lies at a facility, in pieces. */
export type StockRecord = {
  readonly merchantId: string;
  readonly facilityId: string;
  readonly productId: string;
  readonly onHand: number;
  /** Kept for orders that have not been shipped; at most `onHand`. */
  readonly reserved: number;
  readonly updatedAt: Date;
};

/** Pieces that can be promised, by product and then by facility. A product that is missing is made to order. */
export type Availability = ReadonlyMap<string, ReadonlyMap<string, number>>;
