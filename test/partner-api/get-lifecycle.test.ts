import { expect, it } from "vitest";
import { lifecycle } from "../../packages/sdk/src/generated/lifecycle.ts";
import { createPartner, placeTestOrder } from "../support/builders.ts";
import { expectProblem } from "../support/orders.ts";
import { startServiceForTest } from "../support/test-service.ts";

it("GET /v1/lifecycle returns what the SDK has, and needs a key", async () => {
  const test = await startServiceForTest();
  const { client } = await createPartner(test);
  const { status, body } = await client.get("/v1/lifecycle");
  expect(status).toBe(200);
  expect(body).toEqual(lifecycle);
  expectProblem(await test.partner().get("/v1/lifecycle"), 401, "unauthorized");
});

it("each effect and each rejection that it names for a new test order is what its request has", async () => {
  const test = await startServiceForTest();
  const partner = await createPartner(test);
  for (const { transition, operationId, effects, rejections } of lifecycle.testOrders) {
    if (operationId !== "transitionTestOrder") continue;
    const order = await placeTestOrder(partner);
    const { status, body } = await partner.client.post(`/v1/test/orders/${order.id}/transitions`, {
      transition,
    });
    const isNew = ({ from }: { from: readonly string[] }) => from.includes("NEW");
    if (status === 200)
      expect(
        effects.filter(isNew).map(({ to }) => to ?? "NEW"),
        transition,
      ).toContain(body.status);
    else
      expect(rejections.filter(isNew), transition).toContainEqual(
        expect.objectContaining({ code: body.code, rule: body.rule }),
      );
  }
});
