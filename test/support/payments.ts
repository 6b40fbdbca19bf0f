import { expect } from "vitest";
import type { ClaimedPayment } from "../../src/ledger/due-payments-sql.ts";
import type { LedgerEntry } from "../../src/ledger/ledger.ts";
import { readLedger } from "../../src/ledger/ledger-sql.ts";
import { processPayments } from "../../src/payments/process-payments.ts";
import type { Gateway, GatewayResponse } from "../../src/payments/record-responses.ts";
import { retryPayment } from "../../src/payments/retry-payments.ts";
import { fromTypeId } from "../../src/platform/ids.ts";
import type { Partner } from "./builders.ts";
import { runJob } from "./jobs.ts";
import { connectionKey } from "./orders.ts";
import type { TestService } from "./test-service.ts";

/** An order as the tables name it. */
export function orderUuid(orderId: string): string {
  const id = fromTypeId("ord", orderId);
  if (id === null) throw new Error(`${orderId} is no real order's id.`);
  return id;
}

/** Makes the declined charges due that are to be attempted again, as a worker does. */
export const retryDeclined = (test: Pick<TestService, "context">): Promise<number> =>
  runJob(test, "retry-declined-charges");

/** Sends payments to the built-in gateway that are due; returns how many. */
export const sendDuePayments = (test: TestService): Promise<number> => runJob(test, "process-payments");

/** The same, also for those that a retry makes due. */
export async function processDuePayments(test: TestService): Promise<number> {
  await retryDeclined(test);
  return sendDuePayments(test);
}

export const ledgerOf = (test: TestService, partner: Partner, orderId: string) =>
  readLedger(test.db, connectionKey(partner), orderUuid(orderId));

/** An order's ledger in a few words: kind, attempt, status. */
export const moves = async (test: TestService, partner: Partner, orderId: string): Promise<string[]> =>
  (await ledgerOf(test, partner, orderId)).map(
    ({ kind, attempt, status }: LedgerEntry) => `${kind} ${attempt} ${status}`,
  );

/** An operator requests another attempt of an order's payment. */
export const retry = ({ context }: TestService, partner: Partner, orderId: string) =>
  retryPayment(
    context,
    {
      grants: [{ role: "operator" }],
      by: { actor: { kind: "operator", name: "operator" }, requestId: null, action: "retryPayment" },
    },
    { ...connectionKey(partner), id: orderUuid(orderId) },
  );

/** The balance of a merchant's account, in minor units. */
export async function balanceOf(test: TestService, { merchantId }: Partner): Promise<bigint> {
  const [row] = await test.db.query<{ balance_minor: bigint }>({
    name: "test-balance",
    text: "select balance_minor from merchant_accounts where merchant_id = $1",
    values: [fromTypeId("mer", merchantId)],
  });
  return row?.balance_minor ?? 0n;
}

/** Null: unlimited. */
export async function setCreditLimit(
  test: TestService,
  { merchantId }: Partner,
  limitMinor: bigint | null,
): Promise<void> {
  await test.db.query({
    name: "test-set-credit-limit",
    text: "update merchants set credit_limit_minor = $2 where id = $1",
    values: [fromTypeId("mer", merchantId), limitMinor?.toString() ?? null],
  });
}

let payments = 0;

/** The operator enters that a merchant has paid. */
export async function payIn(test: TestService, { merchantId }: Partner, amount: string): Promise<void> {
  payments += 1;
  const { status, body } = await test.backOffice.post(`/api/merchants/${merchantId}/account/payments`, {
    amount: { amount, currency: "EUR" },
    reference: `transfer-${payments}`,
  });
  expect(status, JSON.stringify(body)).toBe(201);
}

/** What is still to be sent to gateways, all connections together. */
export async function readDuePayments(test: TestService) {
  return test.db.query<{ entry_id: string; attempt_count: number; due_at: Date; leased_until: Date | null }>({
    name: "test-due-payments",
    text: "select entry_id, attempt_count, due_at, leased_until from due_payments order by entry_id",
    values: [],
  });
}

type Call = { readonly kind: "charge" | "refund"; readonly payment: ClaimedPayment };

/** A gateway whose responses a test decides. Like a real one, it remembers each id and moves its money once. */
export type ScriptedGateway = Gateway & {
  readonly calls: Call[];
  /** Money that moved, by entry; negative for refunds. */
  readonly moved: Map<string, bigint>;
  /** Decides the first response for an id; succeeds by default. */
  decide(payment: ClaimedPayment): GatewayResponse["status"];
  /** Run with every call, before and after the money moves; the worker sees an exception as an unknown outcome. */
  beforeMove(payment: ClaimedPayment): Promise<void> | void;
  afterMove(payment: ClaimedPayment): Promise<void> | void;
};

export function scriptedGateway(test: TestService, fields: Partial<ScriptedGateway> = {}): ScriptedGateway {
  const decided = new Map<string, GatewayResponse>();
  async function call(kind: Call["kind"], payment: ClaimedPayment): Promise<GatewayResponse> {
    gateway.calls.push({ kind, payment });
    await gateway.beforeMove(payment);
    const known = decided.get(payment.entryId);
    const response = known === undefined || known.status === "pending" ? responseTo(payment) : known;
    decided.set(payment.entryId, response);
    if (response.status === "succeeded")
      gateway.moved.set(payment.entryId, kind === "charge" ? payment.amountMinor : -payment.amountMinor);
    await gateway.afterMove(payment);
    return response;
  }
  function responseTo(payment: ClaimedPayment): GatewayResponse {
    const status = gateway.decide(payment);
    const reference = `ref-${payment.entryId}`;
    if (status === "succeeded") return { status, reference };
    if (status === "declined") return { status, reason: "card_declined" };
    return { status, reference, recheckAt: new Date(test.clock.now().getTime() + 3_600_000) };
  }
  const gateway: ScriptedGateway = {
    name: "account",
    batchSize: 100,
    concurrency: 1,
    calls: [],
    moved: new Map(),
    decide: () => "succeeded",
    beforeMove: () => undefined,
    afterMove: () => undefined,
    charge: (payment) => call("charge", payment),
    refund: (payment) => call("refund", payment),
    ...fields,
  };
  return gateway;
}

/** Sends what is due through a gateway of the test. */
export const processPaymentsWith = (test: TestService, gateway: Gateway): Promise<number> =>
  processPayments(test.context, gateway);
