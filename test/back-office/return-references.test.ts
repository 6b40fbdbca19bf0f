import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createPartner, type Partner } from "../support/builders.ts";
import { createFacility, expectStockAddsUp, readStock, setStock } from "../support/facilities.ts";
import { operationApplied, readDetail, requestOperation } from "../support/real-orders.ts";
import { type ReturnableLine, shipTwoParcels } from "../support/returnable-orders.ts";
import { dumpTables } from "../support/tables.ts";
import { type Answer, startTestService, type TestService } from "../support/test-service.ts";

let test: TestService;
let partner: Partner;
let facility: string;
beforeAll(async () => {
  test = await startTestService();
  partner = await createPartner(test);
  facility = await createFacility(test);
  for (const productId of partner.productIds) await setStock(test, facility, productId, 1_000);
});
afterAll(() => test.close());

const twoParcels = () => shipTwoParcels(test, partner);
const some = (lineId: string, quantity: number) => ({ lines: [{ lineId, quantity }] });
const backOf = ({ lines }: { lines: ReturnableLine[] }) =>
  lines.map(({ returnedQuantity }) => returnedQuantity);
const errorsOf = ({ status, body }: Answer): string[] => {
  expect(status, JSON.stringify(body)).toBe(422);
  return body.errors.map(({ pointer, detail }: Record<string, string>) => `${pointer} ${detail}`);
};
const stockOf = async (index: 0 | 1) => (await readStock(test, facility, partner.productIds[index])).onHand;

describe("a return with a reference", () => {
  const replayed = ({ headers }: Answer) => headers["idempotent-replayed"];

  it("is recorded, restocked and refunded once, however often and concurrently it is requested", async () => {
    const { id, lines } = await twoParcels();
    const before = await stockOf(0);
    const said = {
      ...some(lines[0], 2),
      restock: true,
      reference: "note-1",
      refund: { reference: "ticket-1" },
    };
    const answers = await Promise.all(
      Array.from({ length: 12 }, () => requestOperation(test, id, "return", said)),
    );
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    expect(answers.filter((answer) => replayed(answer) === undefined)).toHaveLength(1);
    const detail = await readDetail(test, id);
    expect(detail).toMatchObject({ returns: [{ reference: "note-1", ...some(lines[0], 2) }], refunds: [{}] });
    expect(detail.refunds).toHaveLength(1);
    expect([backOf(detail), await stockOf(0)]).toEqual([[2, 0], (before ?? 0) + 2]);
    await expectStockAddsUp(test);
  });

  it("can be repeated after everything is back, and changes nothing", async () => {
    const { id, shipments } = await twoParcels();
    const said = { shipmentId: shipments[0], note: "First", reference: "note-1" };
    await operationApplied(test, id, "return", said);
    await operationApplied(test, id, "return");
    const before = await dumpTables(test);
    const again = await requestOperation(test, id, "return", {
      ...said,
      note: "Said otherwise",
      restock: false,
    });
    expect([again.status, again.body.status, replayed(again)]).toEqual([200, "RETURNED", "true"]);
    expect(await dumpTables(test)).toEqual(before);
  });

  it("is rejected if the reference belongs to a different return of the order", async () => {
    const { id, lines } = await twoParcels();
    const other = await twoParcels();
    const said = { ...some(lines[0], 1), reason: "unwanted", condition: "opened", reference: "note-1" };
    // A rejected request does not use the reference up.
    expect((await requestOperation(test, id, "return", { ...said, ...some(lines[0], 9) })).status).toBe(422);
    await operationApplied(test, id, "return", said);
    const different = [
      some(lines[0], 2),
      some(lines[1], 1),
      { reason: "damaged" },
      { condition: undefined },
      { restock: true },
      { refund: { reference: "ticket-1" } },
    ];
    for (const change of different)
      expect(errorsOf(await requestOperation(test, id, "return", { ...said, ...change }))).toEqual([
        "/reference was already used for a different return of the order",
      ]);
    expect(backOf(await readDetail(test, id))).toEqual([1, 0]);
    await operationApplied(test, id, "return", { ...said, reference: "note-2" });
    await operationApplied(test, other.id, "return", { ...said, ...some(other.lines[0], 1) });
    expect(backOf(await readDetail(test, id))).toEqual([2, 0]);
  });

  it("names it with 1 to 255 characters", async () => {
    const { id, lines } = await twoParcels();
    for (const reference of ["x".repeat(256), "\u0000"])
      expect(
        errorsOf(await requestOperation(test, id, "return", { ...some(lines[0], 1), reference })),
      ).toHaveLength(1);
    await operationApplied(test, id, "return", { ...some(lines[0], 1), reference: "x".repeat(255) });
  });
});
