import type { IncomingHttpHeaders } from "node:http";
import type { RouteDescription, RouteResponse } from "../http/route.ts";
import type { KeyAccess } from "../merchants/api-key.ts";
import { type CreateOrder, orderCreator, type SharedGroups } from "../orders/creation/create-order.ts";
import { orderReader, type ReadOrder, testOrdersOf } from "../orders/reading/read-order.ts";
import type { ConnectionKey } from "../platform/connection-key.ts";
import type { Database, DatabaseUsage, Queryable, Spent } from "../platform/database/database.ts";
import { shareDatabase, UNOWNED } from "../platform/database/fair-share.ts";
import type { Metrics } from "../platform/metrics.ts";
import type { Problem } from "../platform/wire/problems.ts";
import { type ListProducts, productLister } from "../products/list-products.ts";
import type { WebhookContext } from "../webhooks/conditions-sql.ts";
import { PullPolls } from "../webhooks/pull/polls.ts";
import type { PartnerCaller } from "./authentication.ts";
import { faultRehearsal, type RehearseFault } from "./rehearsed-faults.ts";

/** A message of the Model Context Protocol. */
type McpRequest = {
  readonly caller: PartnerCaller;
  readonly headers: IncomingHttpHeaders;
  readonly body: unknown;
  readonly id: string;
};
export type AnswerMcp = (request: McpRequest, db: Queryable) => Promise<RouteResponse | Problem>;

/** The operations that handlers of the partner API receive. */
export type PartnerOperations = {
  /** Its database is shared fairly with the calls of other merchants and connections. */
  readonly context: WebhookContext;
  readonly createOrder: CreateOrder;
  /** Of a test key: it finds no real order. */
  readonly readOrder: ReadOrder;
  readonly listProducts: ListProducts;
  readonly rehearseFault: RehearseFault;
  readonly polls: PullPolls;
  readonly answerMcp: AnswerMcp;
  /** The OpenAPI document of the listener, as JSON text. */
  readonly description: () => string;
};

/**
 * The databases of the partner API: the same one, with connections of its own for each kind of work
 * (docs/design/isolation-and-limits.md, "Pools and fair shares").
 */
export type PartnerDatabases = {
  /** Keys, reads and changes. */
  readonly calls: Database;
  /** Groups of creations, in which no order may delay another. */
  readonly creations: Database;
  /** Lists, which may read many rows. */
  readonly lists: Database;
};

/** Calls at the same time, beside the groups that look up keys and read orders. */
const CALLS_MAX = 7;
/** Lists at the same time, beside the groups that read pages of products. */
const LISTS_MAX = 4;

/** Creates them once for a listener, so that requests that arrive together are written or read together. */
export function partnerOperations(
  context: WebhookContext,
  databases: PartnerDatabases,
  metrics: Metrics,
  usage: DatabaseUsage,
  description: () => string,
  answerMcp: AnswerMcp,
  shared?: SharedGroups,
  stopping?: AbortSignal,
): (caller: KeyAccess, route: RouteDescription) => PartnerOperations {
  const spent: Spent = (owner, ms) => usage.spent(owner, ms);
  const calls = shareDatabase(databases.calls, CALLS_MAX, spent);
  const lists = shareDatabase(databases.lists, LISTS_MAX, spent);
  usage.addQueue("partners", calls.waiting);
  usage.addQueue("lists", lists.waiting);
  const contextOf = (owner: ConnectionKey, shared = calls): WebhookContext => ({
    ...context,
    db: shared.of(owner),
  });
  const readOrder = orderReader({ ...context, db: databases.calls }, spent);
  const readTestOrder = testOrdersOf(readOrder);
  const createOrder = orderCreator({ ...context, db: databases.creations }, readOrder, contextOf, {
    onUnusualValue: metrics.orderValueUnusual,
    spent,
    ...(shared && { shared }),
  });
  const listProducts = productLister(databases.lists, spent);
  const rehearseFault = faultRehearsal(stopping);
  const polls = new PullPolls(
    { ...context, db: calls.of(UNOWNED) },
    stopping ?? new AbortController().signal,
  );
  /** A class, because a getter in an object of each request would take longer than all else here. */
  class Operations implements PartnerOperations {
    readonly createOrder = createOrder;
    readonly readOrder: ReadOrder;
    readonly listProducts = listProducts;
    readonly rehearseFault = rehearseFault;
    readonly polls = polls;
    readonly answerMcp = answerMcp;
    readonly description = description;
    readonly #caller: KeyAccess;
    readonly #isList: boolean;

    constructor(caller: KeyAccess, isList: boolean) {
      this.readOrder = caller.testOnly ? readTestOrder : readOrder;
      this.#caller = caller;
      this.#isList = isList;
    }

    /** Made when it is read: most reads do not. */
    get context(): WebhookContext {
      return contextOf(this.#caller, this.#isList ? lists : calls);
    }
  }
  return (caller, { isList = false }) => new Operations(caller, isList);
}
