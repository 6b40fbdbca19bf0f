import { Readable } from "node:stream";
import type { BackOfficeCaller } from "../audit/grant.ts";
import type { RouteResponse } from "../http/route.ts";
import { type FixedLimitName, RETRY_SOON, tooManyAtOnce } from "../merchants/limits.ts";
import type { Database } from "../platform/database/database.ts";
import { shareDatabase } from "../platform/database/fair-share.ts";
import { type SentFile, WORKBOOK_TYPE } from "../platform/tables/write-table.ts";
import { isProblem, type Problem } from "../platform/wire/problems.ts";
import type { ImportContext } from "../products/import/import-products.ts";
import type { WebhookContext } from "../webhooks/conditions-sql.ts";

/**
 * How much work of a kind may be under way: of a merchant, and in the process. More is rejected at once
 * (docs/design/isolation-and-limits.md, "Bulk work").
 */
const MAXIMA = {
  runningImports: { unit: "import", ofOne: 1, ofAll: 10 },
  runningExports: { unit: "export", ofOne: 2, ofAll: 20 },
  runningExposures: { unit: "exposure change", ofOne: 8, ofAll: 40 },
  runningResends: { unit: "resend request", ofOne: 8, ofAll: 40 },
  runningStatements: { unit: "statement", ofOne: 4, ofAll: 40 },
} as const satisfies Partial<Record<FixedLimitName, { unit: string; ofOne: number; ofAll: number }>>;
export type BulkWork = keyof typeof MAXIMA;

/** Of each kind. What merchants and partners do never takes these from the operator and the warehouse. */
const KEPT_FOR_STAFF = 2;

/** Connections to the database for bulk work other than storing an import. One more stores imports, one after the other. */
const CALLS_MAX = 2;
const STORING_MAX = 1;
/** The connections that the gate uses. */
export const BULK_CONNECTIONS_MAX = CALLS_MAX + STORING_MAX;

type Count = { all: number; readonly byOwner: Map<string, number> };

/**
 * Work on many rows at once passes it before a body is read or a connection to the database is taken: imports, exports, bulk
 * exposure, resends and statements. So its number is bounded, its connections are its own, and merchants take turns.
 */
export class BulkGate {
  readonly #context: WebhookContext;
  readonly #calls;
  readonly #storing;
  readonly #counts = new Map<BulkWork, Count>();

  /** @param db whose connections only this gate uses */
  constructor(context: WebhookContext, db: Database) {
    this.#context = context;
    this.#calls = shareDatabase(db, CALLS_MAX);
    this.#storing = shareDatabase(db, STORING_MAX);
  }

  /** Does bulk work for a merchant, or returns at once why it cannot be begun now. */
  async run<Result>(
    work: BulkWork,
    caller: BackOfficeCaller,
    merchantId: string,
    operation: (context: ImportContext) => Promise<Result>,
  ): Promise<Result | Problem> {
    // Two imports of a merchant change the same products, also if the operator requests one of them.
    const owner = work === "runningImports" ? merchantId : ownerOf(caller, merchantId);
    const left = this.#enter(work, owner, isStaff(caller));
    if (isProblem(left)) return left;
    try {
      return await operation(this.#contextOf(merchantId));
    } finally {
      left();
    }
  }

  /**
   * Sends a file. It counts as under way until it is sent, or its client has left. A connection to the database is taken for
   * each part, not while the client reads.
   * @param merchantId null: the file is of several merchants, or of none
   */
  async export(
    caller: BackOfficeCaller,
    merchantId: string | null,
    prepare: (context: WebhookContext) => Promise<SentFile | Problem>,
  ): Promise<RouteResponse | Problem> {
    const owner = ownerOf(caller, merchantId);
    const left = this.#enter("runningExports", owner, isStaff(caller));
    if (isProblem(left)) return left;
    try {
      const file = await prepare(this.#contextOf(owner));
      if (isProblem(file)) {
        left();
        return file;
      }
      const { mediaType, fileName } = file;
      const headers = {
        "content-type": mediaType === WORKBOOK_TYPE ? mediaType : `${mediaType}; charset=utf-8`,
        "content-disposition": `attachment; filename="${fileName}"`,
      };
      return { status: 200, body: Readable.from(file.parts), headers, ended: left };
    } catch (error) {
      left();
      throw error;
    }
  }

  #contextOf(name: string): ImportContext {
    const owner = { merchantId: name, connectionId: name }; // All callers of a merchant share its turns.
    return { ...this.#context, db: this.#calls.of(owner), storing: this.#storing.of(owner) };
  }

  #enter(work: BulkWork, owner: string, isOfStaff: boolean): (() => void) | Problem {
    const { unit, ofOne, ofAll } = MAXIMA[work];
    const count = this.#counts.get(work) ?? { all: 0, byOwner: new Map() };
    const own = count.byOwner.get(owner) ?? 0;
    if (own >= ofOne) return tooManyAtOnce(work, ofOne, unit);
    if (count.all >= ofAll - (isOfStaff ? 0 : KEPT_FOR_STAFF)) return busy(unit, ofAll);
    count.all += 1;
    count.byOwner.set(owner, own + 1);
    this.#counts.set(work, count);
    return () => {
      count.all -= 1;
      const rest = (count.byOwner.get(owner) ?? 0) - 1;
      if (rest > 0) count.byOwner.set(owner, rest);
      else count.byOwner.delete(owner);
    };
  }
}

/** Callers that see all merchants have their own share, which no merchant can use up. */
const isStaff = ({ grants }: BackOfficeCaller): boolean =>
  grants.some(({ role }) => role !== "merchant" && role !== "partner");

const ownerOf = (caller: BackOfficeCaller, merchantId: string | null): string =>
  merchantId === null || isStaff(caller) ? (caller.id ?? "operator") : merchantId;

const busy = (unit: string, maximum: number): Problem => ({
  code: "unavailable",
  detail: `The service has its maximum of ${maximum} ${unit}s at a time. Nothing was done: retry later.`,
  headers: RETRY_SOON,
});
