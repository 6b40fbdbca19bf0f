import { randomUUID } from "node:crypto";
import { expect, it } from "vitest";
import { leaseEndpoints } from "../../src/webhooks/delivery/claim-sql.ts";
import { untilBlocked } from "../support/blocked.ts";
import { createPartner } from "../support/builders.ts";
import { storeEndpoint } from "../support/dispatch.ts";
import { connectionKey } from "../support/orders.ts";
import { startServiceForTest } from "../support/test-service.ts";

it("an endpoint that another worker leases at the same time is left to it", async () => {
  const test = await startServiceForTest();
  const { db } = test;
  const partner = await createPartner(test);
  await storeEndpoint(test, partner, { url: "https://a.example/1" });
  const [row] = await db.query<{ id: string }>({
    name: "test-states",
    text: "select endpoint_id as id from webhook_endpoint_states",
    values: [],
  });
  const claimant = {
    workerId: randomUUID(),
    now: test.clock.now(),
    endpointLeasedUntil: new Date(test.clock.now().getTime() + 10_000),
  };
  const leasing = await db.transaction(async (tx) => {
    await tx.query({
      name: "test-lease",
      text: "update webhook_endpoint_states set worker_id = $3, leased_until = $4 where merchant_id = $1 and endpoint_id = $2",
      values: [connectionKey(partner).merchantId, row?.id, randomUUID(), claimant.endpointLeasedUntil],
    });
    const leased = leaseEndpoints(db, [connectionKey(partner)], claimant, {
      due: [row?.id ?? ""],
      except: [],
      healthyOnly: false,
    });
    await untilBlocked(test, 1);
    return [leased];
  });
  expect((await Promise.all(leasing)).flat()).toHaveLength(0);
});
