import { afterAll, beforeAll, expect, it } from "vitest";
import { createPartner, type Partner } from "../support/builders.ts";
import { routeAll } from "../support/facilities.ts";
import { readOrder } from "../support/orders.ts";
import { operationApplied, placeAcceptedOrder, readDetail } from "../support/real-orders.ts";
import { startTestService, type TestService } from "../support/test-service.ts";

let test: TestService;
let partner: Partner;
beforeAll(async () => {
  test = await startTestService();
  partner = await createPartner(test);
});
afterAll(() => test.close());

const PRINTED = "9400111201080805483016";
const BARCODE = `42022153${PRINTED}`;

async function shipped(tracking: object) {
  const { id } = await placeAcceptedOrder(test, partner);
  await routeAll(test);
  return operationApplied(test, id, "ship", tracking);
}
const found = async (path: string) => (await test.backOffice.get(path)).body;
const scanned = async (code: string) =>
  (await found(`/api/work-list/scan?code=${encodeURIComponent(code)}`)).orders.map(
    ({ orderId }: { orderId: string }) => orderId,
  );
const searched = async (text: string) =>
  (await found(`/api/orders?q=${encodeURIComponent(text)}`)).data.map(({ id }: { id: string }) => id);

it("the printed number is stored of a scanned label, and either finds the order", async () => {
  const { id, shipments } = await shipped({ carrier: "USPS", trackingNumber: BARCODE });
  expect(shipments).toMatchObject([{ trackingNumber: PRINTED, scannedTrackingNumber: BARCODE }]);
  expect(shipments[0].trackingUrl).toMatch(new RegExp(`=${PRINTED}$`));
  const [seen] = (await readOrder(partner, id)).shipments;
  expect(seen).toMatchObject({ trackingNumber: PRINTED });
  expect(seen).not.toHaveProperty("scannedTrackingNumber");
  for (const code of [PRINTED, BARCODE, `]C1${BARCODE}`, "9400 1112 0108 0805 4830 16"]) {
    expect(await scanned(code), code).toEqual([id]);
    expect(await searched(code), code).toEqual([id]);
  }
});

it("a number that arrives later is read in the same way, and a new one replaces what was scanned", async () => {
  const { id, shipments } = await shipped({ carrier: "FedEx" });
  const patch = async (body: object) =>
    (await test.backOffice.request("PATCH", `/api/shipments/${shipments[0].id}`, { body })).body;
  expect(await patch({ trackingNumber: "9611020987654312345672" })).toMatchObject({
    trackingNumber: "987654312345672",
    scannedTrackingNumber: "9611020987654312345672",
  });
  expect(await scanned("9611020987654312345672")).toEqual([id]);
  expect(await patch({ trackingNumber: "OTHER-1" })).toMatchObject({
    trackingNumber: "OTHER-1",
    scannedTrackingNumber: null,
  });
});

it("what was scanned is erased with the number", async () => {
  const { id } = await shipped({ trackingNumber: BARCODE, repeatedTrackingNumber: true });
  await operationApplied(test, id, "complete");
  await operationApplied(test, id, "erase-personal-data");
  expect((await readDetail(test, id)).shipments).toMatchObject([
    { trackingNumber: null, scannedTrackingNumber: null },
  ]);
});
