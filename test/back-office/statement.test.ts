import { parse } from "csv-parse/sync";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fromTypeId } from "../../src/platform/ids.ts";
import { encodeCursor } from "../../src/platform/wire/cursor.ts";
import { personOf, warehouseOf } from "../support/back-office-resources.ts";
import { untilBlocked } from "../support/blocked.ts";
import { createPartner, type Partner, placeOrder } from "../support/builders.ts";
import { cancelOrder, expectErrors } from "../support/orders.ts";
import { payIn, processDuePayments, setCreditLimit } from "../support/payments.ts";
import { type Answer, startTestService, type TestService } from "../support/test-service.ts";

let test: TestService;
beforeAll(async () => {
  test = await startTestService({ config: { paymentRetryMs: [3_600_000] } });
});
afterAll(() => test.close());

const START = "2026-01-01T00:00:00.000Z";
const now = () => test.clock.now().toISOString();
type Money = { amount: string };
type Entry = { id: string; amount: Money; balance: Money; createdAt: string; orderId: string | null };

const minor = ({ amount }: Money): number => Math.round(Number(amount) * 100);
const pathOf = ({ merchantId }: Partner, suffix = "") => `/api/merchants/${merchantId}/statement${suffix}`;
const query = (fields: Record<string, string>) => `?${new URLSearchParams(fields)}`;

async function statement(partner: Partner, fields: Record<string, string>) {
  const { status, body } = await test.backOffice.get(`${pathOf(partner)}${query(fields)}`);
  expect(status, JSON.stringify(body)).toBe(200);
  return body;
}

/** All pages. The sums must be the same on each. */
async function wholeStatement(partner: Partner, period: Record<string, string>, limit: number) {
  const entries: Entry[] = [];
  const first = await statement(partner, { ...period, limit: String(limit) });
  for (let page = first; ; ) {
    entries.push(...page.data);
    expect({ ...page, data: [], nextCursor: null }).toEqual({ ...first, data: [], nextCursor: null });
    if (page.nextCursor === null) return { ...first, data: entries };
    page = await statement(partner, { ...period, limit: String(limit), cursor: page.nextCursor });
  }
}

const csv = async (partner: Partner, period: Record<string, string>): Promise<Record<string, string>[]> => {
  const { status, body, headers } = await test.backOffice.get(
    `${pathOf(partner, "/export")}${query(period)}`,
  );
  expect(status, JSON.stringify(body)).toBe(200);
  expect(headers["content-type"]).toBe("text/csv; charset=utf-8");
  return parse(body, { columns: true });
};

type Step = "order" | "cancel" | "refund" | "pay" | "process" | "wait" | "noCredit" | "credit";
const STEPS = fc.constantFrom<Step>(
  ...([
    "order",
    "order",
    "cancel",
    "refund",
    "pay",
    "process",
    "process",
    "wait",
    "noCredit",
    "credit",
  ] as const),
);

/** Does something that may move money. Returns the moment after it. */
async function execute(partner: Partner, orders: string[], step: Step): Promise<string> {
  const newest = orders.at(-1);
  if (step === "order") orders.push((await placeOrder(partner)).id);
  if (step === "cancel" && newest !== undefined) await cancelOrder(partner, newest);
  if (step === "refund" && newest !== undefined)
    await test.backOffice.post(`/api/orders/${newest}/refund`, {
      amount: { amount: "0.07", currency: "EUR" },
      reason: "late",
      reference: `ticket-${Math.random()}`,
    });
  if (step === "pay") await payIn(test, partner, "3.33");
  if (step === "process") await processDuePayments(test);
  if (step === "wait") test.clock.advance({ hours: 2 });
  if (step === "noCredit") await setCreditLimit(test, partner, 0n);
  if (step === "credit") await setCreditLimit(test, partner, null);
  test.clock.advance({ seconds: 1 });
  return now();
}

const balanceOf = async ({ merchantId }: Partner): Promise<number> =>
  minor((await test.backOffice.get(`/api/merchants/${merchantId}/account`)).body.balance);

describe("GET /api/merchants/{id}/statement", () => {
  it("adds up exactly for every period of every history, and periods follow each other without a gap", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(STEPS, { minLength: 4, maxLength: 14 }),
        fc.nat(),
        fc.nat(),
        async (steps, a, b) => {
          const partner = await createPartner(test);
          const orders: string[] = [];
          const moments = [now()];
          const balances = [0];
          for (const step of ["order" as const, ...steps, "process" as const]) {
            moments.push(await execute(partner, orders, step));
            balances.push(await balanceOf(partner));
          }
          const at = (n: number) => n % moments.length;
          const [one, other] = [Math.min(at(a), at(b)), Math.max(at(a), at(b))];
          const period = { from: String(moments[one]), to: String(moments[other]) };
          const { opening, charges, refunds, payments, closing, entryCount, data } = await wholeStatement(
            partner,
            period,
            2,
          );
          // The balances that the account had at these moments, which the statement does not read.
          expect([minor(opening), minor(closing)]).toEqual([balances[one], balances[other]]);
          expect(minor(opening) + minor(charges) + minor(refunds) + minor(payments)).toBe(minor(closing));
          expect(data).toHaveLength(entryCount);
          let balance = minor(opening);
          for (const entry of data) {
            balance += minor(entry.amount);
            expect(minor(entry.balance)).toBe(balance);
            expect(entry.createdAt >= period.from && entry.createdAt < period.to).toBe(true);
          }
          expect(balance).toBe(minor(closing));
          expect(new Set(data.map(({ id }: Entry) => id)).size).toBe(data.length);
          const rows = await csv(partner, period);
          expect(rows.map((row) => row["kind"])).toEqual([
            "opening",
            ...data.map(({ kind }: { kind: string }) => kind),
            "closing",
          ]);
          expect(rows.map((row) => minor({ amount: String(row["balance"]) }))).toEqual([
            minor(opening),
            ...data.map((entry: Entry) => minor(entry.balance)),
            minor(closing),
          ]);
        },
      ),
      { numRuns: 15 },
    );
  }, 120_000);

  it("names the order and the charge of every entry", async () => {
    const partner = await createPartner(test);
    const { id, externalOrderId } = await placeOrder(partner);
    await processDuePayments(test);
    await cancelOrder(partner, id);
    await processDuePayments(test);
    await payIn(test, partner, "5.00");
    test.clock.advance({ seconds: 1 });
    const { data } = await statement(partner, { from: START });
    const order = { orderId: id, externalOrderId };
    expect(data).toMatchObject([
      { kind: "charge", ...order, chargeKind: "goods", refundOf: null },
      { kind: "refund", ...order, chargeKind: "refund", refundOf: data[0].chargeId },
      { kind: "payment", orderId: null, chargeId: null, chargeKind: null },
    ]);
    for (const { chargeId, amount } of data.slice(0, 2)) {
      const { status, body } = await test.backOffice.get(`/api/charges/${chargeId}`);
      expect(status).toBe(200);
      expect(body).toMatchObject({
        id: chargeId,
        orderId: id,
        merchantId: partner.merchantId,
        status: "succeeded",
      });
      expect(Math.abs(minor(amount))).toBe(minor(body.amount));
    }
    const entries = `/api/merchants/${partner.merchantId}/account/entries`;
    const ofOrder = await test.backOffice.get(`${entries}?orderId=${id}&limit=1`);
    expect(ofOrder.body.data).toMatchObject([{ kind: "refund", orderId: id }]);
    const next = await test.backOffice.get(`${entries}?orderId=${id}&cursor=${ofOrder.body.nextCursor}`);
    expect(next.body).toMatchObject({ data: [{ kind: "charge", orderId: id }], nextCursor: null });
    const charges = await test.backOffice.get(`${entries}?orderId=${id}&kind=charge`);
    expect(charges.body.data).toHaveLength(1);
    expect((await test.backOffice.get(`${entries}?orderId=x`)).status).toBe(422);
  });

  it("adds up as CSV over many pages, also if a page ends between entries of one moment", async () => {
    const partner = await createPartner(test);
    await payIn(test, partner, "1.00");
    await test.db.query({
      name: "test-many-entries",
      text: `
        with added as (
          insert into account_entries (merchant_id, id, kind, amount_minor, reference, created_at)
          select $1, gen_random_uuid(), 'payment', g, 'many ' || g, $2
          from generate_series(1, 1100) as g
          returning amount_minor
        )
        update merchant_accounts
        set balance_minor = balance_minor + (select sum(amount_minor) from added)
        where merchant_id = $1`,
      values: [fromTypeId("mer", partner.merchantId), test.clock.now()],
    });
    test.clock.advance({ seconds: 1 });
    const rows = await csv(partner, { from: START });
    expect(new Set(rows.map(({ id }) => id)).size).toBe(1_102); // All entries, and the rows without an id.
    const { data, closing } = await wholeStatement(partner, { from: START }, 100);
    expect(rows.slice(1, -1).map((row) => [row["id"], row["balance"]])).toEqual(
      data.map(({ id, balance }: Entry) => [id, balance.amount]),
    );
    expect(rows.at(-1)).toMatchObject({ kind: "closing", balance: closing.amount });
    expect(closing.amount).toBe("6056.50");
  });

  it("ends now at the latest, and waits for a booking that is in progress", async () => {
    const partner = await createPartner(test);
    await payIn(test, partner, "1.00");
    const { to } = await statement(partner, { from: START, to: "2999-01-01T00:00:00Z" });
    expect(to).toBe(now());
    let answer: Promise<Answer> | undefined;
    await test.db.transaction(async (tx) => {
      await tx.query({
        name: "test-lock-account",
        text: "select merchant_id from merchant_accounts where merchant_id = $1 for update",
        values: [fromTypeId("mer", partner.merchantId)],
      });
      test.clock.advance({ seconds: 1 });
      answer = test.backOffice.get(`${pathOf(partner)}${query({ from: START })}`);
      await untilBlocked(test, 1);
    });
    expect((await answer)?.body.closing.amount).toBe("1.00");
  });

  it("is empty before the first entry, and for a merchant that has no account yet", async () => {
    const partner = await createPartner(test);
    const zero = { amount: "0.00", currency: "EUR" };
    const empty = { opening: zero, closing: zero, entryCount: 0, data: [], nextCursor: null };
    expect(await statement(partner, { from: START })).toMatchObject(empty);
    expect(await csv(partner, { from: START })).toHaveLength(2);
    expect((await statement(partner, {})).from).toBe("2026-03-01T00:00:00.000Z");
  });

  it.each(["2016-12-31T23:59:60Z", "0000-01-01T00:00:00Z", "0001-01-01T00:00:00+23:59"])(
    "begins at any time that is valid: %s",
    async (from) => {
      const { merchantId } = await createPartner(test);
      const { status } = await test.backOffice.get(
        `/api/merchants/${merchantId}/statement?from=${encodeURIComponent(from)}`,
      );
      expect(status).toBe(200);
    },
  );

  it("rejects a period that ends before it begins or begins after now, and a cursor of another list", async () => {
    const partner = await createPartner(test);
    for (const fields of [{ from: "2026-02-01" }, { from: "2026-02-01T00:00:00Z", to: START }])
      expect((await test.backOffice.get(`${pathOf(partner)}${query(fields)}`)).status).toBe(422);
    const future = { from: "2030-01-01T00:00:00Z", to: "2030-02-01T00:00:00Z" };
    for (const suffix of ["", "/export"])
      expectErrors(await test.backOffice.get(`${pathOf(partner, suffix)}${query(future)}`), [
        { parameter: "from" },
      ]);
    expect((await statement(partner, { ...future, from: now() })).entryCount, "begins now").toBe(0);
    const cursor = await test.backOffice.get(`${pathOf(partner)}${query({ from: START, cursor: "x" })}`);
    expect(cursor.body.errors).toMatchObject([{ parameter: "cursor" }]);
  });

  it.each([2n ** 62n, -(2n ** 62n), 8_640_000_000_000_001n, -8_640_000_000_000_000n])(
    "rejects a cursor that is forged with the time %d",
    async (time) => {
      const position = Buffer.alloc(24, 255);
      position.writeBigInt64BE(time);
      const path = pathOf(await createPartner(test));
      const answer = await test.backOffice.get(
        `${path}${query({ from: START, cursor: encodeCursor("statement", position) })}`,
      );
      expectErrors(answer, [{ parameter: "cursor" }]);
    },
  );

  it("is for the operator and the merchant itself", async () => {
    const [partner, other] = [await createPartner(test), await createPartner(test)];
    const { id } = await placeOrder(partner);
    await processDuePayments(test);
    const { data } = await statement(partner, { from: START, to: "2999-01-01T00:00:00Z" });
    expect(data).toEqual([]); // The charge was booked in this very moment.
    const charge = `/api/charges/${id.replace("ord_", "chg_")}`;
    for (const path of [
      `${pathOf(partner)}?from=${START}`,
      `${pathOf(partner, "/export")}?from=${START}`,
      charge,
    ]) {
      expect((await personOf(test, partner.merchantId).get(path)).status, path).toBe(200);
      expect((await personOf(test, other.merchantId).get(path)).status, path).toBe(404);
      expect((await warehouseOf(test).get(path)).status, path).toBe(403);
    }
    for (const missing of ["chg_01m7y7np16fe68bxp4h91tdmdn", "nothing"])
      expect((await test.backOffice.get(`/api/charges/${missing}`)).status).toBe(404);
  });
});
