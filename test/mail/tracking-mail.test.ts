import { expect, it } from "vitest";
import { createPartner, type Partner, placeTestOrder } from "../support/builders.ts";
import { runJob } from "../support/jobs.ts";
import { type MailServer, startMailServer } from "../support/mail-server.ts";
import { operationApplied, placeAcceptedOrder } from "../support/real-orders.ts";
import { transition } from "../support/sandbox.ts";
import { startServiceForTest, type TestService } from "../support/test-service.ts";

type Started = { test: TestService; partner: Partner; server: MailServer };

async function start(): Promise<Started> {
  const server = await startMailServer();
  const test = await startServiceForTest({ config: { smtpUrl: server.url } });
  return { test, partner: await createPartner(test), server };
}

const twoLines = ({ productIds }: Partner) => ({
  lines: productIds.map((productId) => ({ productId, quantity: 3 })),
});
const patch = (test: TestService, id: string, body: object) =>
  test.backOffice.request("PATCH", `/api/shipments/${id}`, { body });

it("tracking that is known at once goes to the merchant's account address, with the details that a merchant needs", async () => {
  const { test, partner, server } = await start();
  const { id, externalOrderId, lines } = await placeAcceptedOrder(test, partner, twoLines(partner));
  await operationApplied(test, id, "ship", {
    lineIds: [lines[1].id],
    carrier: "DHL",
    trackingNumber: "JD01",
  });
  await runJob(test, "send-mails");
  expect(server.mails).toHaveLength(1);
  const [mail] = server.mails;
  expect(mail?.to).toEqual(["m@example.com"]);
  expect(mail?.headers["subject"]).toBe(`Order ${externalOrderId} is on its way`);
  for (const text of [id, "DHL", "JD01", "tracking-id=", "1 of 2", "3 units"])
    expect(mail?.body.replaceAll("=\r\n", "").replaceAll("=3D", "=")).toContain(text);
});

it("there is one mail for each shipment, when its tracking becomes known, whatever changes later", async () => {
  const { test, partner, server } = await start();
  const { id, lines } = await placeAcceptedOrder(test, partner, twoLines(partner));
  const first = (await operationApplied(test, id, "ship", { lineIds: [lines[0].id] })).shipments[0];
  const second = (await operationApplied(test, id, "ship")).shipments[1];
  await runJob(test, "send-mails");
  expect(server.mails).toHaveLength(0);
  await Promise.all(
    ["A", "B", "C"].map((trackingNumber) => patch(test, first.id, { carrier: "UPS", trackingNumber })),
  );
  await patch(test, first.id, { trackingNumber: null, trackingUrl: null });
  await patch(test, first.id, { trackingNumber: "D" });
  await patch(test, second.id, { trackingUrl: "https://bikes.example/2" });
  await patch(test, second.id, { status: "delivered" });
  while ((await runJob(test, "send-mails")) > 0);
  expect(server.mails).toHaveLength(2);
  expect(server.mails.some(({ body }) => body.includes("https://bikes.example/2"))).toBe(true);
});

it("a rejected transition sends nothing, nor does a test order's shipment", async () => {
  const { test, partner, server } = await start();
  const { id } = await placeAcceptedOrder(test, partner);
  await operationApplied(test, id, "hold");
  const tracking = { carrier: "DHL", trackingNumber: "1" };
  expect((await test.backOffice.post(`/api/orders/${id}/ship`, tracking)).status).toBe(409);
  await transition(partner, (await placeTestOrder(partner)).id, "ship");
  await runJob(test, "send-mails");
  expect(server.mails).toEqual([]);
});
