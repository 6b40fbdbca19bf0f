import { expect, inject, it } from "vitest";
import { type Partner, placeOrder } from "../support/builders.ts";
import { loseNode } from "../support/citus-nodes.ts";
import { acceptAll, createFacility, routeAll, setStock } from "../support/facilities.ts";
import { readOrder } from "../support/orders.ts";
import { partnersOnTwoNodes } from "../support/partners-on-nodes.ts";
import { moves, payIn, processDuePayments, setCreditLimit } from "../support/payments.ts";
import { startServiceForTest } from "../support/test-service.ts";

const onCitus = it.skipIf(inject("citusNodes").length === 0);

/** Runs a job until it has done something. That a node is back is noticed after a second. */
async function untilDone(run: () => Promise<number>): Promise<void> {
  while ((await run()) === 0);
}

// See docs/design/money.md, "Retries of declined charges".
onCitus(
  "while a node is down, a payment lets declined charges of merchants on others be attempted again, and the rest follow",
  async () => {
    const test = await startServiceForTest({ config: { paymentRetryMs: [] } });
    const [healthy, lost, node] = await partnersOnTwoNodes(test);
    const decline = async (partner: Partner): Promise<string> => {
      await setCreditLimit(test, partner, 0n);
      const { id } = await placeOrder(partner);
      await processDuePayments(test);
      return id;
    };
    const [ofHealthy, ofLost] = [await decline(healthy), await decline(lost)];
    for (const partner of [healthy, lost]) await payIn(test, partner, "10.00");

    const restore = await loseNode(test, node);
    await processDuePayments(test);
    expect(await moves(test, healthy, ofHealthy)).toEqual(["goods 1 failed", "goods 2 succeeded"]);

    await restore();
    await untilDone(() => processDuePayments(test));
    expect(await moves(test, lost, ofLost)).toEqual(["goods 1 failed", "goods 2 succeeded"]);
    expect(await moves(test, healthy, ofHealthy)).toEqual(["goods 1 failed", "goods 2 succeeded"]);
  },
);

// See docs/design/fulfilment.md, "Waiting orders".
onCitus(
  "while a node is down, goods release waiting orders of merchants on others, and the rest follow",
  async () => {
    const test = await startServiceForTest();
    const [healthy, lost, node] = await partnersOnTwoNodes(test);
    const facility = await createFacility(test);
    const isHeld = async (partner: Partner, id: string) => (await readOrder(partner, id)).onHold;
    const stockAll = async (onHand: number) => {
      for (const { productIds } of [healthy, lost]) await setStock(test, facility, productIds[0], onHand);
    };
    await stockAll(0);
    const [ofHealthy, ofLost] = [(await placeOrder(healthy)).id, (await placeOrder(lost)).id];
    await acceptAll(test);
    await routeAll(test);
    expect([await isHeld(healthy, ofHealthy), await isHeld(lost, ofLost)]).toEqual([true, true]);

    await stockAll(10);
    const restore = await loseNode(test, node);
    await routeAll(test);
    expect(await isHeld(healthy, ofHealthy)).toBe(false);

    await restore();
    await untilDone(() => routeAll(test));
    expect(await isHeld(lost, ofLost)).toBe(false);
  },
);
