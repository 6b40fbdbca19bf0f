/** The key of a product in the tables. */
export type ProductKey = { readonly merchantId: string; readonly id: string };

/** The quantity of a product at a facility, in units. */
export type StockRecord = {
  readonly merchantId: string;
  readonly facilityId: string;
  readonly productId: string;
  readonly onHand: number;
  /** Reserved for orders that have not shipped. At most `onHand`. */
  readonly reserved: number;
  readonly updatedAt: Date;
};

/** A stock record with what identifies its product to people. */
export type StockOfProduct = StockRecord & {
  readonly sku: string;
  readonly name: string;
  /** Null if the product has none. */
  readonly barcode: string | null;
};

/** Available units, by product and then by facility. A product that is missing is made to order. */
export type Availability = ReadonlyMap<string, ReadonlyMap<string, number>>;
