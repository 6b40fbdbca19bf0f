import { expect, it } from "vitest";
import { untilBlocked } from "../support/blocked.ts";
import { createPartner } from "../support/builders.ts";
import { connectionUuid } from "../support/orders.ts";
import { startServiceForTest } from "../support/test-service.ts";
import { tokensOf } from "../support/tokens.ts";
import { uuidIn } from "../support/webhooks.ts";

it("calls of a merchant's programs that all wait leave the database to the warehouse, the operator and other merchants", async () => {
  const test = await startServiceForTest();
  const tokens = tokensOf(test);
  const [partner, other] = [await createPartner(test), await createPartner(test)];
  const programOf = async ({ merchantId }: typeof partner) =>
    test.backOfficeAs((await tokens.create({ role: "merchant", merchantIds: [merchantId] })).body.token);
  const programs = [await programOf(partner), await programOf(partner), await programOf(partner)];
  const another = await programOf(other);
  const warehouse = test.backOfficeAs((await tokens.create({ role: "warehouse" })).body.token);
  const path = `/api/connections/${partner.connectionId}`;
  let waiting: Promise<{ status: number }>[] = [];
  await test.db.transaction(async (tx) => {
    await tx.query({
      name: "test-lock-connection",
      text: "select 1 from connections where merchant_id = $1 and id = $2 for update",
      values: [uuidIn("mer", partner.merchantId), connectionUuid(partner)],
    });
    waiting = programs.flatMap((program) =>
      Array.from({ length: 10 }, () => program.request("PATCH", path, { body: { name: "Renamed" } })),
    );
    await untilBlocked(test, 3);
    expect((await test.backOffice.get("/api/merchants")).status).toBe(200);
    expect((await warehouse.get("/api/orders")).status).toBe(200);
    expect((await another.get(`/api/connections/${other.connectionId}`)).status).toBe(200);
  });
  for (const answer of await Promise.all(waiting)) expect(answer.status).toBe(200);
});
