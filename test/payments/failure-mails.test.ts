import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { mailPaymentFailures } from "../../src/payments/failure-mails.ts";
import { createPartner, type Partner, placeOrder } from "../support/builders.ts";
import { dyingDatabase } from "../support/dying-database.ts";
import { runJob } from "../support/jobs.ts";
import { type MailServer, type ReceivedMail, startMailServer } from "../support/mail-server.ts";
import { cancelOrder } from "../support/orders.ts";
import { payIn, processDuePayments, setCreditLimit } from "../support/payments.ts";
import { operationApplied, readDetail } from "../support/real-orders.ts";
import { shipUnpaid } from "../support/ship-unpaid.ts";
import { startTestService, type TestService } from "../support/test-service.ts";

let test: TestService;
let server: MailServer;
let partner: Partner;
beforeEach(async () => {
  server = await startMailServer();
  test = await startTestService({ config: { smtpUrl: server.url, paymentRetryMs: [60_000, 60_000] } });
  partner = await brokePartner();
});
afterEach(() => test.close());

/** A merchant that cannot pay anything. */
async function brokePartner(): Promise<Partner> {
  const broke = await createPartner(test);
  await setCreditLimit(test, broke, 0n);
  return broke;
}

async function failedOrder(by = partner): Promise<{ id: string; externalOrderId: string }> {
  const order = await placeOrder(by);
  await processDuePayments(test);
  return order;
}

/** Time passes, and whatever is due is mailed. Returns the mails that arrived, in the order in which they were queued. */
async function mailsAfter(time: { seconds?: number; minutes?: number }): Promise<ReceivedMail[]> {
  const before = server.mails.length;
  test.clock.advance(time);
  await runJob(test, "mail-payment-failures");
  while ((await runJob(test, "send-mails")) > 0);
  return server.mails.slice(before).sort((one, other) => (idOf(one) < idOf(other) ? -1 : 1));
}

/** The ids of mails sort by time. Several are sent at the same time, so they may arrive in another order. */
const idOf = ({ headers }: ReceivedMail): string => headers["message-id"] ?? "";

const subjectOf = (mail: ReceivedMail | undefined) => mail?.headers["subject"];
const subjects = (mails: readonly ReceivedMail[]) => mails.map(subjectOf);
const textOf = (mail: ReceivedMail | undefined) =>
  (mail?.body ?? "").replaceAll("=\r\n", "").replaceAll("=3D", "=").replaceAll("\r\n", "\n");

describe("mails about a failed payment", () => {
  it("are one when it fails, none for further attempts, and one when it is paid", async () => {
    const { id, externalOrderId } = await failedOrder();
    expect(await mailsAfter({ seconds: 29 })).toEqual([]);
    const [mail, ...others] = await mailsAfter({ seconds: 1 });
    expect(others).toEqual([]);
    expect(mail?.to).toEqual(["m@example.com"]);
    expect(subjectOf(mail)).toBe(`Payment failed for order ${externalOrderId}`);
    expect(textOf(mail)).toContain(`${id} (${externalOrderId}): credit_limit_exceeded`);
    for (let attempt = 0; attempt < 3; attempt += 1) {
      expect(await mailsAfter({ minutes: 20 })).toEqual([]);
      await processDuePayments(test);
    }
    await payIn(test, partner, "10.00");
    await processDuePayments(test);
    const resolved = await mailsAfter({ seconds: 30 });
    expect(subjects(resolved)).toEqual([`Failed payment resolved for order ${externalOrderId}`]);
    expect(textOf(resolved[0])).toContain(`${id} (${externalOrderId}): paid`);
    expect(await mailsAfter({ minutes: 60 })).toEqual([]);
  });

  it("are one with the number, if many orders fail in a short time, and one when they are paid", async () => {
    for (let number = 0; number < 23; number += 1) await placeOrder(partner);
    await processDuePayments(test);
    const mails = await mailsAfter({ seconds: 30 });
    expect(subjects(mails)).toEqual(["Payment failed for 23 orders"]);
    expect(textOf(mails[0]).match(/ord_/g)).toHaveLength(20);
    expect(textOf(mails[0])).toContain("and 3 more");
    await payIn(test, partner, "230.00");
    await processDuePayments(test);
    expect(subjects(await mailsAfter({ seconds: 30 }))).toEqual(["Failed payment resolved for 23 orders"]);
  });

  it("are at most one of a kind in 15 minutes, and the next one has all failures since", async () => {
    await failedOrder();
    expect(await mailsAfter({ seconds: 30 })).toHaveLength(1);
    await failedOrder();
    await failedOrder();
    expect(await mailsAfter({ minutes: 14 })).toEqual([]);
    expect(subjects(await mailsAfter({ minutes: 1 }))).toEqual(["Payment failed for 2 orders"]);
  });

  it("go to each merchant for its own orders only", async () => {
    const other = await brokePartner();
    const [mine, theirs] = [await failedOrder(), await failedOrder(other)];
    const mails = await mailsAfter({ seconds: 30 });
    expect(subjects(mails).sort()).toEqual(
      [mine, theirs].map(({ externalOrderId }) => `Payment failed for order ${externalOrderId}`).sort(),
    );
  });

  it("are sent as well for an order that has shipped, which is not on hold", async () => {
    const { partner: shipped, id } = await shipUnpaid(test);
    expect((await readDetail(test, id)).onHold).toBe(false);
    expect(await mailsAfter({ seconds: 30 })).toHaveLength(1);
    await payIn(test, shipped, "10.00");
    await processDuePayments(test);
    expect(textOf((await mailsAfter({ seconds: 30 }))[0])).toContain(`${id} `);
  });

  it.each<[string, (id: string) => Promise<unknown>, string]>([
    ["the partner cancels", (id) => cancelOrder(partner, id), "canceled, nothing is owed"],
    [
      "the operator waives it",
      (id) => operationApplied(test, id, "release-hold", { reasons: ["payment_failed"] }),
      "released without payment",
    ],
  ])("report how it was resolved: %s", async (_, resolve, words) => {
    const { id } = await failedOrder();
    await mailsAfter({ seconds: 30 });
    await resolve(id);
    const mails = await mailsAfter({ seconds: 30 });
    expect(mails).toHaveLength(1);
    expect(textOf(mails[0])).toContain(words);
    expect(await mailsAfter({ minutes: 60 })).toEqual([]);
  });

  it("are two, in order, also when it is paid before the first one is sent", async () => {
    await failedOrder();
    await payIn(test, partner, "10.00");
    await processDuePayments(test);
    const mails = await mailsAfter({ seconds: 30 });
    expect(textOf(mails[0])).toContain("credit_limit_exceeded, paid");
    expect(subjects(mails).map((subject) => subject?.split(" for ")[0])).toEqual([
      "Payment failed",
      "Failed payment resolved",
    ]);
  });

  it("never report a resolution before its failure, which may have to wait for its turn", async () => {
    await failedOrder();
    expect(await mailsAfter({ seconds: 30 })).toHaveLength(1);
    const { id } = await failedOrder();
    await cancelOrder(partner, id);
    expect(await mailsAfter({ minutes: 10 })).toEqual([]);
    expect(subjects(await mailsAfter({ minutes: 5 })).map((subject) => subject?.split(" for ")[0])).toEqual([
      "Payment failed",
      "Failed payment resolved",
    ]);
  });

  it("are not sent for a hold that a person has placed, nor for an order that is paid at once", async () => {
    await setCreditLimit(test, partner, null);
    const { id } = await failedOrder();
    await operationApplied(test, id, "hold", { reasons: ["payment_failed"] });
    expect(await mailsAfter({ minutes: 1 })).toEqual([]);
  });

  it("are each queued once by workers that run at the same time, and by one that ends at any point", async () => {
    await failedOrder();
    test.clock.advance({ seconds: 30 });
    for (let statement = 1; statement <= 8; statement += 1)
      for (const applied of [false, true])
        await mailPaymentFailures({
          ...test.context,
          db: dyingDatabase(test.context.db, statement, applied),
        }).catch(() => undefined);
    await Promise.all(Array.from({ length: 4 }, () => runJob(test, "mail-payment-failures")));
    expect(await mailsAfter({ seconds: 1 })).toHaveLength(1);
    await payIn(test, partner, "10.00");
    await processDuePayments(test);
    test.clock.advance({ seconds: 30 });
    await Promise.all(Array.from({ length: 4 }, () => runJob(test, "mail-payment-failures")));
    expect(await mailsAfter({ minutes: 20 })).toHaveLength(1);
  });
});
