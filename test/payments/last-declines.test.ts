import { describe, expect, it } from "vitest";
import { processPayments } from "../../src/payments/process-payments.ts";
import { createLog } from "../../src/platform/log.ts";
import { createPartner, placeOrder } from "../support/builders.ts";
import { routeAll, ship } from "../support/facilities.ts";
import { cancelOrder, readOrder, transitionOrder } from "../support/orders.ts";
import { moves, orderUuid, scriptedGateway } from "../support/payments.ts";
import { placeAcceptedOrder } from "../support/real-orders.ts";
import { startServiceForTest } from "../support/test-service.ts";

describe("a charge that is declined for the last time", () => {
  it("is reported to the operator where no hold can show it, and where a charge is still owed", async () => {
    const lines: string[] = [];
    const test = await startServiceForTest({ config: { paymentRetryMs: [] } });
    const service = { ...test.context, log: createLog("error", { write: (line) => lines.push(line) }) };
    const partner = await createPartner(test);
    const completed = await placeAcceptedOrder(test, partner);
    await routeAll(test);
    await ship(test, partner, completed.id);
    await transitionOrder(test, partner, completed.id, { name: "complete" });
    const held = await placeOrder(partner);
    const canceled = await placeOrder(partner);
    const gateway = scriptedGateway(test, {
      decide: () => "declined",
      beforeMove: async ({ orderId }) => {
        if (orderId === orderUuid(canceled.id)) await cancelOrder(partner, canceled.id);
      },
    });
    expect(await processPayments(service, gateway)).toBe(3);
    for (const { id } of [completed, held, canceled])
      expect(await moves(test, partner, id)).toEqual(["goods 1 failed"]);
    expect((await readOrder(partner, held.id)).onHoldReasons).toEqual(["payment_failed"]);
    expect(await readOrder(partner, completed.id)).toMatchObject({ status: "COMPLETED", onHold: false });
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      {
        level: "error",
        order: { id: orderUuid(completed.id) },
        entry: { id: orderUuid(completed.id) },
        reason: "card_declined",
      },
    ]);
  });
});
