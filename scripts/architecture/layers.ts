/** A folder of src and its purpose, as ARCHITECTURE.md describes it. */
export type Layer = readonly { readonly folder: string; readonly purpose: string }[];

/**
 * The layers of src, lowest first. A file imports only from its own folder and from lower layers. Folders that share a
 * layer do not import each other.
 */
export const LAYERS: readonly Layer[] = [
  [
    {
      folder: "platform",
      purpose: "configuration, clock, ids, money, log, metrics, PostgreSQL, problems, validation",
    },
  ],
  [{ folder: "distribution", purpose: "the tables over the nodes of Citus" }],
  [{ folder: "access", purpose: "the pure rules of access: roles, grants, and what a caller sees" }],
  [{ folder: "lifecycle", purpose: "the pure rules of an order: state, transition, time in; new state out" }],
  [{ folder: "audit", purpose: "the record of changes and of reads of personal data" }],
  [{ folder: "merchants", purpose: "merchants, connections, API keys, review policies" }],
  [
    { folder: "tokens", purpose: "named tokens of the back office" },
    { folder: "views", purpose: "saved views of lists" },
  ],
  [{ folder: "events", purpose: "event types, event bodies, the event feed" }],
  [{ folder: "mail", purpose: "the queue of mails and its sender" }],
  [{ folder: "people", purpose: "people of the back office: sign-in, sessions, invitations" }],
  [{ folder: "webhooks", purpose: "endpoints, publishing, the dispatcher, the delivery log" }],
  [{ folder: "keyring", purpose: "the keys that encrypt secrets of endpoints and of people" }],
  [{ folder: "products", purpose: "the catalog, exposure to connections, CSV import" }],
  [
    { folder: "ledger", purpose: "charges and refunds of an order" },
    { folder: "stock", purpose: "stock and reservations of a product" },
  ],
  [{ folder: "orders", purpose: "creation, transitions, deadlines, lists, export" }],
  [{ folder: "payments", purpose: "charging through the merchant's account or Stripe" }],
  [{ folder: "fulfilment", purpose: "facilities, rates, routing, shipping" }],
  [
    { folder: "maintenance", purpose: "partitions and statistics of the database" },
    { folder: "monitoring", purpose: "metrics of the work that waits" },
  ],
  [{ folder: "api", purpose: "the two listeners: routes, authentication, HTTP" }],
  [{ folder: "app", purpose: "start, stop and jobs of a process; demo data" }],
  [{ folder: "cli", purpose: "the operator's command line" }],
  [{ folder: "main.ts", purpose: "the entry of the service" }],
];

/** The folder of src that a file belongs to; a file beside the folders counts as its own folder. */
export const folderOf = (path: string): string => path.split("/")[1] ?? path;

/** The position of a folder in the layers, 0 for the lowest; -1 if no layer has it. */
export const layerOf = (folder: string): number =>
  LAYERS.findIndex((layer) => layer.some((member) => member.folder === folder));
