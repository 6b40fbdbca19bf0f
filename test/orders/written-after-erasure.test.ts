import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createPartner, type Partner } from "../support/builders.ts";
import { processDuePayments } from "../support/payments.ts";
import { operationApplied, placeAcceptedOrder } from "../support/real-orders.ts";
import { countRowsNaming } from "../support/tables.ts";
import { startTestService, type TestService } from "../support/test-service.ts";

describe("personal data that is written about an erased order", () => {
  let test: TestService;
  let partner: Partner;
  beforeAll(async () => {
    test = await startTestService();
    partner = await createPartner(test);
  });
  afterAll(() => test.close());

  const erase = (id: string) => test.backOffice.post(`/api/orders/${id}/erase-personal-data`);

  it.each([
    {
      what: "tracking",
      write: async (id: string) => {
        const [shipment] = (await test.backOffice.get(`/api/orders/${id}`)).body.shipments;
        const change = { trackingNumber: "LATE-1", trackingUrl: "https://late.example/LATE-1" };
        return test.backOffice.request("PATCH", `/api/shipments/${shipment.id}`, { body: change });
      },
    },
    {
      what: "the note of a return",
      write: (id: string) =>
        test.backOffice.post(`/api/orders/${id}/return`, { note: "Ophelia sent it back" }),
    },
    {
      what: "the note of a refund",
      write: (id: string) =>
        test.backOffice.post(`/api/orders/${id}/refund`, {
          amount: { amount: "1.00", currency: "EUR" },
          reason: "other",
          reference: "r",
          note: "Ophelia complained",
        }),
    },
    {
      what: "a note",
      write: (id: string) => test.backOffice.post(`/api/orders/${id}/notes`, { text: "Ophelia called" }),
    },
  ])("is erased by the next request: $what", async ({ write }) => {
    const { id } = await placeAcceptedOrder(test, partner);
    await operationApplied(test, id, "ship", { carrier: "DHL", trackingNumber: "FIRST-1" });
    await operationApplied(test, id, "complete");
    await processDuePayments(test);
    await erase(id);
    const written = await write(id);
    expect(written.status, JSON.stringify(written.body)).toBeLessThan(300);
    expect(await countRowsNaming(test, "LATE-1", "late.example", "Ophelia")).not.toEqual({});
    expect((await test.backOffice.get(`/api/orders/${id}`)).body.personalDataErasedAt).toBeNull();
    expect((await erase(id)).body.personalDataErasedAt).not.toBeNull();
    expect(await countRowsNaming(test, "LATE-1", "late.example", "Ophelia")).toEqual({});
  });
});
