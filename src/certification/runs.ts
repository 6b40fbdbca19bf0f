import { type Initiator, recordAudit } from "../audit/record-audit.ts";
import type { ConnectionKey } from "../platform/connection-key.ts";
import { type Context, inTransaction } from "../platform/context.ts";
import { after, MINUTE_MS, SECOND_MS } from "../platform/time.ts";
import { UUID_MIN } from "../platform/wire/cursor.ts";
import { isProblem, notFound, type Problem, validationFailed } from "../platform/wire/problems.ts";
import { searchExposedProducts } from "../products/find-products.ts";
import { type Endpoint, type EndpointKey, endpointFact } from "../webhooks/endpoints/endpoint.ts";
import { shareEndpoint } from "../webhooks/endpoints/endpoints-sql.ts";
import { ENDPOINT_PAUSED } from "../webhooks/resend/manual.ts";
import {
  type Certification,
  type CertificationKey,
  externalIdOf,
  wireCertificationId,
} from "./certification.ts";
import {
  cancelOpenCertification,
  deleteOldCertifications,
  insertCertification,
  noteLostCreation,
  readCertification,
  readLastFinish,
  readOpenCertification,
} from "./certifications-sql.ts";
import { NEEDED_TYPES } from "./checks.ts";
import { firstProgress } from "./script.ts";

/** Runs of a connection that are kept. */
const KEPT = 50;
/** Between two runs for the same endpoint. */
const PAUSE_MS = MINUTE_MS;

/**
 * Begins a run for a test endpoint. A connection has one open run at a time: the database decides, so of two requests at once one is
 * rejected.
 * @param by who requests it, for the audit log. Null for a partner, whose runs leave no entry
 */
export async function startCertification(
  context: Context,
  key: EndpointKey,
  by: Initiator | null = null,
): Promise<Certification | Problem> {
  const { clock, newId } = context;
  return inTransaction(context, async (tx) => {
    const endpoint = await shareEndpoint(tx, key, key.id);
    if (endpoint === null) return notFound("webhook endpoint");
    const open = await readOpenCertification(tx, key);
    const rejected = open === null ? rejectedEndpoint(endpoint) : isRunning(open);
    if (rejected !== null) return rejected;
    const now = clock.now();
    const lastFinish = await readLastFinish(tx, key, key.id);
    if (lastFinish !== null && now < after(lastFinish, PAUSE_MS))
      return tooSoon(after(lastFinish, PAUSE_MS), now);
    const { products } = await searchExposedProducts(
      tx,
      key,
      { sku: null, status: "active", text: null },
      { list: "", afterId: UUID_MIN, limit: 1 },
    );
    const [product] = products;
    if (product === undefined) return NO_PRODUCT;
    const run: Certification = {
      merchantId: endpoint.merchantId,
      connectionId: endpoint.connectionId,
      id: newId(),
      endpointId: endpoint.id,
      endpointUpdatedAt: endpoint.updatedAt,
      productId: product.id,
      status: "running",
      reason: null,
      progress: firstProgress(now, endpoint.kind === "pull"),
      results: [],
      lostAt: null,
      repeatedAt: null,
      otherwise: null,
      createdAt: now,
      finishedAt: null,
    };
    if (!(await insertCertification(tx, run, now))) {
      const other = await readOpenCertification(tx, key);
      return other === null ? tooSoon(after(now, PAUSE_MS), now) : isRunning(other); // It has ended since.
    }
    await deleteOldCertifications(tx, key, KEPT);
    if (by !== null) await recordAudit(tx, context, by, runFact(run));
    return run;
  });
}

const runFact = (run: Certification) =>
  endpointFact({ ...run, id: run.endpointId }, { certificationId: wireCertificationId(run) });

function rejectedEndpoint({ mode, status, eventTypes }: Endpoint): Problem | null {
  if (mode !== "test") return validationFailed([{ pointer: "/endpointId", rule: "test_endpoint" }]);
  if (status === "paused") return ENDPOINT_PAUSED;
  const missing = NEEDED_TYPES.filter((type) => !eventTypes.includes(type));
  return missing.length === 0
    ? null
    : notPossible(
        "event-types",
        `The endpoint does not receive ${missing.join(", ")}. Add these to its eventTypes, or leave eventTypes out when you create it.`,
      );
}

const notPossible = (
  reason: "running" | "no-product" | "event-types",
  detail: string,
  members = {},
): Problem => ({
  code: "certification-not-possible",
  detail,
  members: { reason, certificationId: null, ...members },
});

const isRunning = (open: Certification): Problem =>
  notPossible(
    "running",
    `The connection has an open certification, ${wireCertificationId(open)}. Wait for its end, or cancel it.`,
    { certificationId: wireCertificationId(open) },
  );

const NO_PRODUCT = notPossible(
  "no-product",
  "The connection has no product that can be ordered. The merchant exposes products to it.",
);

function tooSoon(until: Date, now: Date): Problem {
  const seconds = Math.max(1, Math.ceil((until.getTime() - now.getTime()) / SECOND_MS));
  return {
    code: "rate-limited",
    detail: `A certification of the endpoint has just ended. Retry in ${seconds} s.`,
    headers: { "retry-after": String(seconds) },
  };
}

/** Ends an open run. Repeating it has no further effect. Null: there is no such run. */
export function cancelCertification(
  context: Context,
  key: CertificationKey,
  by: Initiator | null = null,
): Promise<Certification | null> {
  return inTransaction(context, async (tx) => {
    const isCanceled = await cancelOpenCertification(tx, key, context.clock.now());
    const run = await readCertification(tx, key);
    if (by !== null && run !== null && isCanceled) await recordAudit(tx, context, by, runFact(run));
    return run;
  });
}

/**
 * Tells an open run of a creation whose response is lost, or that repeats such a one. After a crash between the creation and this, the
 * repetition tells enough.
 */
export async function noteRehearsedCreation(
  { db, clock }: Context,
  connection: ConnectionKey,
  { externalOrderId }: { readonly externalOrderId?: string },
  created: { readonly replayed: boolean } | Problem,
): Promise<void> {
  const run = await readOpenCertification(db, connection);
  if (run === null) return;
  const note = noteOf(run, externalOrderId, created, clock.now());
  if (note !== null) await noteLostCreation(db, run, note);
}

type CreationNote = Pick<Certification, "lostAt" | "repeatedAt" | "otherwise">;

function noteOf(
  run: Certification,
  externalOrderId: string | undefined,
  created: { readonly replayed: boolean } | Problem,
  now: Date,
): CreationNote | null {
  const nothing: CreationNote = { lostAt: null, repeatedAt: null, otherwise: null };
  if (externalOrderId === externalIdOf(run, "lost-creation")) {
    if (!isProblem(created))
      return created.replayed ? { ...nothing, repeatedAt: now } : { ...nothing, lostAt: now };
    const otherwise = `it had the same externalOrderId, but another key or another body, and was rejected with ${created.code}`;
    return run.lostAt === null ? null : { ...nothing, otherwise };
  }
  if (run.lostAt === null || run.repeatedAt !== null || isProblem(created) || created.replayed) return null;
  const named =
    externalOrderId === undefined
      ? "without an externalOrderId"
      : `with the externalOrderId ${externalOrderId}`;
  return { ...nothing, otherwise: `it created a second order, ${named}` };
}
