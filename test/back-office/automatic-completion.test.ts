import { afterAll, beforeAll, expect, it } from "vitest";
import { createPartner, type Partner } from "../support/builders.ts";
import { runJob } from "../support/jobs.ts";
import { readOrderEvents } from "../support/orders.ts";
import { operationApplied, operationsOf, placeAcceptedOrder, readDetail } from "../support/real-orders.ts";
import { startTestService, type TestService } from "../support/test-service.ts";

let test: TestService;
let partner: Partner;
beforeAll(async () => {
  test = await startTestService();
  partner = await createPartner(test);
  await setting(true);
});
afterAll(() => test.close());

const setting = async (completeWhenShipped: boolean) => {
  const path = `/api/merchants/${partner.merchantId}`;
  const { status, body } = await test.backOffice.request("PATCH", path, { body: { completeWhenShipped } });
  expect(status).toBe(200);
  expect(body).toMatchObject({ completeWhenShipped });
};
const complete = () => runJob(test, "complete-shipped-orders");
const pay = () => runJob(test, "process-payments");
const lines = () => ({ lines: partner.productIds.map((productId) => ({ productId, quantity: 1 })) });

it("an order completes once its last line has shipped and its charges are paid", async () => {
  const order = await placeAcceptedOrder(test, partner, lines());
  await operationApplied(test, order.id, "ship", { lineIds: [order.lines[0].id] });
  await pay();
  expect(await complete()).toBe(0);
  await operationApplied(test, order.id, "ship");
  expect(await complete()).toBe(1);
  const detail = await readDetail(test, order.id);
  expect(detail.status).toBe("COMPLETED");
  expect(operationsOf(detail).at(-1)).toBe("complete by service");
  expect((await readOrderEvents(test, partner, order.id)).at(-1)?.type).toBe("order.completed");
  expect(await complete()).toBe(0);
});

it("not before it is paid", async () => {
  const { id } = await placeAcceptedOrder(test, partner, lines());
  await operationApplied(test, id, "ship");
  expect(await complete()).toBe(0);
  await pay();
  expect(await complete()).toBe(1);
});

it("not while it is on hold", async () => {
  const { id } = await placeAcceptedOrder(test, partner, lines());
  await operationApplied(test, id, "ship");
  await pay();
  await operationApplied(test, id, "hold");
  expect(await complete()).toBe(0);
  await operationApplied(test, id, "release-hold");
  expect(await complete()).toBe(1);
});

it("not unless its merchant wants automatic completion", async () => {
  const { id } = await placeAcceptedOrder(test, partner, lines());
  await operationApplied(test, id, "ship");
  await pay();
  await setting(false);
  expect(await complete()).toBe(0);
  await setting(true);
  expect(await complete()).toBe(1);
});
