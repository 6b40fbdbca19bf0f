import { expect, it } from "vitest";
import { createPartner } from "../support/builders.ts";
import { moves, processPaymentsWith, type ScriptedGateway, scriptedGateway } from "../support/payments.ts";
import { operationApplied, placeAcceptedOrder } from "../support/real-orders.ts";
import { startServiceForTest } from "../support/test-service.ts";

/**
 * A shipped order is canceled, and its parcel comes back, while its gateway is still thinking: the status says
 * RETURNED by then, but nothing of a canceled order is owed any more.
 */
async function cancelAndReturnDuringCharge(fields: Partial<ScriptedGateway> = {}) {
  const test = await startServiceForTest({ config: { paymentRetryMs: [3_600_000] } });
  const partner = await createPartner(test);
  const { id } = await placeAcceptedOrder(test, partner);
  await operationApplied(test, id, "ship");
  let returned: Promise<unknown> | undefined;
  const gateway = scriptedGateway(test, {
    ...fields,
    afterMove: async () => {
      returned ??= (async () => {
        await operationApplied(test, id, "cancel");
        expect(await operationApplied(test, id, "return")).toMatchObject({ status: "RETURNED" });
      })();
      await returned;
    },
  });
  await processPaymentsWith(test, gateway);
  return { test, partner, id, gateway };
}

it("a charge that succeeds after cancel and return is refunded", async () => {
  const { test, partner, id } = await cancelAndReturnDuringCharge();
  expect(await moves(test, partner, id)).toEqual(["goods 1 succeeded", "refund 1 succeeded"]);
});

it("a charge that is declined after cancel and return is not attempted again", async () => {
  const { test, partner, id, gateway } = await cancelAndReturnDuringCharge({ decide: () => "declined" });
  test.clock.advance({ hours: 24 });
  await processPaymentsWith(test, gateway);
  expect(await moves(test, partner, id)).toEqual(["goods 1 failed"]);
});

it("a refund that was declined can still be requested again", async () => {
  const { test, partner, id, gateway } = await cancelAndReturnDuringCharge({
    decide: ({ kind }) => (kind === "refund" ? "declined" : "succeeded"),
  });
  await processPaymentsWith(test, gateway);
  test.clock.advance({ hours: 1 });
  await processPaymentsWith(test, gateway);
  expect(await moves(test, partner, id)).toEqual(["goods 1 succeeded", "refund 1 failed", "refund 2 failed"]);
  gateway.decide = () => "succeeded";
  await operationApplied(test, id, "retry-payment");
  await processPaymentsWith(test, gateway);
  expect((await moves(test, partner, id)).at(-1)).toBe("refund 3 succeeded");
});
