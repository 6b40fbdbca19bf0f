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
      purpose: "configuration, clock, ids, money, log, PostgreSQL and Citus, problems, validation",
    },
  ],
  [
    { folder: "lifecycle", purpose: "the pure rules of an order: state, transition, time in; new state out" },
    { folder: "mail", purpose: "the queue of mails and its sender" },
    { folder: "changes", purpose: "what has changed, and its feed" },
  ],
  [
    { folder: "audit", purpose: "the record of changes and reads, and the pure rules of access" },
    { folder: "ledger", purpose: "charges and refunds of an order" },
    { folder: "stock", purpose: "stock and reservations of a product" },
  ],
  [{ folder: "merchants", purpose: "merchants, connections, API keys, limits" }],
  [
    { folder: "people", purpose: "people of the back office: sign-in, sessions, tokens, views" },
    { folder: "webhooks", purpose: "events, endpoints, the dispatcher, the delivery log, resends" },
  ],
  [{ folder: "products", purpose: "the catalog, exposure to connections, CSV import" }],
  [{ folder: "orders", purpose: "creation, transitions, deadlines, lists, export" }],
  [
    { folder: "payments", purpose: "charging through the merchant's account or Stripe" },
    { folder: "certification", purpose: "runs that examine the receiver of a test endpoint" },
  ],
  [
    { folder: "fulfilment", purpose: "facilities, rates, routing, work list, shipping" },
    { folder: "self-service", purpose: "test keys without a person, and their end" },
  ],
  [
    { folder: "http", purpose: "what both listeners share: requests, replies, OpenAPI" },
    { folder: "operations", purpose: "metrics, doctor, processes, partitions, keys" },
  ],
  [{ folder: "partner-api", purpose: "the partners' listener: a file for each resource" }],
  [{ folder: "back-office", purpose: "the back office's listener: a file for each resource" }],
  [{ folder: "service", purpose: "start, stop and jobs of a process; demo data" }],
  [{ folder: "cli", purpose: "the operator's command line" }],
  [{ folder: "main.ts", purpose: "the entry of the service" }],
];

/** The folder of src that a file belongs to; a file beside the folders counts as its own folder. */
export const folderOf = (path: string): string => path.split("/")[1] ?? path;

/** The position of a folder in the layers, 0 for the lowest; -1 if no layer has it. */
export const layerOf = (folder: string): number =>
  LAYERS.findIndex((layer) => layer.some((member) => member.folder === folder));
