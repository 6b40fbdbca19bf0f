type ChangedOrder = {
  readonly id: string;
  readonly connectionId: string;
  readonly merchantId: string;
};

/** What has changed: see `GET /api/updates`. Null: read again, whatever the page shows. */
export type Update = {
  readonly orders: readonly ChangedOrder[];
  readonly deliveriesOf: readonly string[];
} | null;
