/**
 * A connection together with its merchant. The connection is the unit of access. The merchant is the unit of distribution over
 * several databases (docs/design/distribution.md, "The merchant is the unit"). Orders, callers and connections are connection
 * keys too.
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

/** A list of connections as columns, which a statement reads with `unnest`. */
export const connectionColumns = (
  connections: readonly ConnectionKey[],
): [merchantIds: string[], connectionIds: string[]] => [
  connections.map(({ merchantId }) => merchantId),
  connections.map(({ connectionId }) => connectionId),
];
