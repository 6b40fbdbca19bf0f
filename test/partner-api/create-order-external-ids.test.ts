import { expect, it } from "vitest";
import { anOrder, createPartner } from "../support/builders.ts";
import { startServiceForTest } from "../support/test-service.ts";

it.each([".", ".."])(
  "an external id of %s is rejected: no path could name its order",
  async (externalOrderId) => {
    const partner = await createPartner(await startServiceForTest());
    const { status, body } = await partner.client.post("/v1/orders", anOrder(partner, { externalOrderId }));
    expect([status, body.errors?.[0]?.pointer]).toEqual([422, "/externalOrderId"]);
  },
);
