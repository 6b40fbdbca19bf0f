import { Readable } from "node:stream";
import {
  type BackOfficeCaller,
  type Grant,
  grantsWith,
  partlySeenMerchants,
  roleOnOrder,
  seesConnection,
} from "../../audit/grant.ts";
import { isValid } from "../../merchants/api-key.ts";
import { isLive, readSessionsById } from "../../people/sessions.ts";
import { readTokens } from "../../people/tokens-sql.ts";
import type { ConnectionKey } from "../../platform/connection-key.ts";
import type { Context } from "../../platform/context.ts";
import { fromTypeId, toTypeId, wireOrderId } from "../../platform/ids.ts";
import type { ChangedOrder } from "../../platform/signals.ts";
import { SECOND_MS } from "../../platform/time.ts";

/** The changes since the last round. */
export type Changes = {
  readonly orders: readonly ChangedOrder[];
  /** Connections whose deliveries changed. */
  readonly connections: readonly ConnectionKey[];
  /** Merchants of which more has changed than `orders` and `connections` name. Null: any. */
  readonly moreOf: ReadonlySet<string> | null;
};

/** Orders, and connections, that one message names. */
const NAMED_MAX = 100;
const HEARTBEAT_MS = 15 * SECOND_MS;
/** Bytes that wait for the client. Nothing more is written before they are read. */
const WAITING_BYTES_MAX = 16_384;
/** A client that reads nothing for this time has gone. */
const STUCK_MS = 60 * SECOND_MS;
/** Clients wait so long before they connect again. */
const RETRY_MS = 2 * SECOND_MS;

/** Why the service ends a stream. */
export type StreamEndReason = "access-changed" | "lifetime" | "stopping" | "unavailable";

/** The stream of one page, as server-sent events. Holds a bounded number of ids, and never content. */
export class UpdateStream {
  readonly caller: BackOfficeCaller;
  /** The merchants of which the caller sees something. Null: all. */
  readonly merchantIds: ReadonlySet<string> | null;
  readonly openedAtMs = performance.now();
  readonly body = new Readable({ highWaterMark: WAITING_BYTES_MAX, read: () => undefined });
  readonly #orders = new Map<string, ChangedOrder>();
  readonly #connections = new Set<string>();
  #isMore = false;
  #writtenAtMs = performance.now();

  constructor(caller: BackOfficeCaller) {
    this.caller = caller;
    this.merchantIds = partlySeenMerchants(caller.grants);
    this.body.push(`retry: ${RETRY_MS}\nevent: ready\ndata: {}\n\n`);
  }

  /** Keeps of these changes what the caller sees. @param facilityOf the facility of an order that is routed to one */
  note({ orders, connections, moreOf }: Changes, facilityOf: ReadonlyMap<string, string>): void {
    const { grants } = this.caller;
    for (const order of orders)
      if (roleOnOrder(grants, { ...order, facilityId: facilityOf.get(order.id) ?? null }) !== null)
        this.#orders.set(order.id, order);
    for (const connection of connections)
      if (seesConnection(grants, connection)) this.#connections.add(connection.connectionId);
    this.#isMore ||=
      this.#isOf(moreOf) || this.#orders.size > NAMED_MAX || this.#connections.size > NAMED_MAX;
    if (this.#isMore) this.#forget();
  }

  /** Something may have changed that was not noted. */
  missed(): void {
    this.#isMore = true;
  }

  /** Writes what is known in one message, or a heartbeat if nothing was written for a while. */
  write(): void {
    const nowMs = performance.now();
    if (this.body.readableLength >= WAITING_BYTES_MAX) {
      if (nowMs - this.#writtenAtMs > STUCK_MS) this.body.destroy();
      return;
    }
    const text = this.#message() ?? (nowMs - this.#writtenAtMs > HEARTBEAT_MS ? ":\n\n" : null);
    if (text === null) return;
    this.#writtenAtMs = nowMs;
    this.body.push(text);
  }

  end(reason: StreamEndReason): void {
    if (this.body.destroyed) return;
    this.body.push(`event: end\ndata: ${JSON.stringify({ reason })}\n\n`);
    this.body.push(null);
  }

  /** True if more has changed of what the caller sees. @param moreOf null: of any merchant */
  #isOf(moreOf: ReadonlySet<string> | null): boolean {
    if (moreOf === null) return true;
    return this.merchantIds === null ? moreOf.size > 0 : isShared(this.merchantIds, moreOf);
  }

  #message(): string | null {
    if (this.#isMore) {
      this.#isMore = false;
      return "event: reload\ndata: {}\n\n";
    }
    if (this.#orders.size + this.#connections.size === 0) return null;
    const orders = [...this.#orders.values()].map((order) => ({
      id: wireOrderId(order),
      connectionId: toTypeId("con", order.connectionId),
      merchantId: toTypeId("mer", order.merchantId),
    }));
    const deliveriesOf = [...this.#connections].map((id) => toTypeId("con", id));
    this.#forget();
    return `event: changed\ndata: ${JSON.stringify({ orders, deliveriesOf })}\n\n`;
  }

  #forget(): void {
    this.#orders.clear();
    this.#connections.clear();
  }
}

/** True if two sets have an element in common. */
const isShared = (one: ReadonlySet<string>, other: ReadonlySet<string>): boolean =>
  [...one].some((element) => other.has(element));

/** The roles that the route of updates admits. */
const UPDATE_ROLES = ["operator", "warehouse", "merchant", "partner", "support"] as const;

/**
 * Whether callers still have the access with which they came: their sessions and tokens are good, and their grants are the
 * same. Two statements for any number of callers. A look at a session is no use of it.
 */
export async function stillAdmitted(
  { db, clock }: Pick<Context, "db" | "clock">,
  callers: readonly BackOfficeCaller[],
): Promise<(caller: BackOfficeCaller) => boolean> {
  const sessionIds = callers.flatMap(({ session }) => (session === undefined ? [] : [session.id]));
  const tokenIds = callers.flatMap((caller) => tokenIdOf(caller) ?? []);
  const [sessions, tokens] = await Promise.all([
    sessionIds.length === 0 ? [] : readSessionsById(db, [...new Set(sessionIds)]),
    tokenIds.length === 0 ? [] : readTokens(db, [...new Set(tokenIds)]),
  ]);
  const now = clock.now();
  const grantsOf = new Map<string, readonly Grant[]>();
  for (const { session, person } of sessions)
    if (isLive(session, now) && person.disabledAt === null) grantsOf.set(session.id, person.grants);
  for (const token of tokens) if (isValid(token, now)) grantsOf.set(token.id, [token.grant]);
  return (caller) => {
    if (caller.type === "token" && caller.id === null) return true; // `OPERATOR_TOKEN` changes with a restart only.
    const grants = grantsOf.get(caller.session?.id ?? tokenIdOf(caller) ?? "");
    return grants !== undefined && textOf(grants) === textOf(caller.grants);
  };
}

const tokenIdOf = ({ type, id }: BackOfficeCaller): string | null =>
  type === "token" && id !== null ? fromTypeId("tok", id) : null;

const textOf = (grants: readonly Grant[]): string =>
  grantsWith(grants, UPDATE_ROLES)
    .map((grant) => JSON.stringify(grant))
    .sort()
    .join();
