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

/** What an update means for a list. */
type LiveEffect = {
  /** Rows that the page shows may have changed. */
  readonly isChanged: boolean;
  /** Keys of rows that are not shown and belong on the first page. */
  readonly newKeys: readonly string[];
};

export type LiveRule<Row> = {
  readonly effectOf: (update: Exclude<Update, null>, rows: readonly Row[]) => LiveEffect;
  /** True if rows are about to change that no update reports. Checked every few seconds. */
  readonly isDue?: (rows: readonly Row[]) => boolean;
};
