/**
 * A connection together with its merchant. The connection is the unit of access; the merchant is what a distributed
 * database splits by (decision 0054). Orders, callers and connections are connection keys too.
 */
export type ConnectionKey = {
  readonly merchantId: string;
  readonly connectionId: string;
};

export type ConnectionKeyRow = { merchant_id: string; connection_id: string };

export const toConnectionKey = (row: ConnectionKeyRow): ConnectionKey => ({
  merchantId: row.merchant_id,
  connectionId: row.connection_id,
});

/** Each connection once. */
export const distinctConnections = (keys: Iterable<ConnectionKey>): ConnectionKey[] => [
  ...new Map([...keys].map((key) => [key.connectionId, key])).values(),
];

/** The columns of a list of connections, as a statement reads it with `unnest`. */
export const connectionColumns = (
  connections: readonly ConnectionKey[],
): [merchantIds: string[], connectionIds: string[]] => [
  connections.map(({ merchantId }) => merchantId),
  connections.map(({ connectionId }) => connectionId),
];
