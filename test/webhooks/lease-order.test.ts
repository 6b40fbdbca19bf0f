import { randomUUID } from "node:crypto";
import { expect } from "vitest";
import { leaseEndpoints } from "../../src/webhooks/delivery/claim-sql.ts";
import { untilBlocked } from "../support/blocked.ts";
import { createPartner } from "../support/builders.ts";
import { storeEndpoint } from "../support/dispatch.ts";
import { connectionKey } from "../support/orders.ts";
import { itOnPlainPostgres } from "../support/plain-postgres.ts";
import { startServiceForTest } from "../support/test-service.ts";

itOnPlainPostgres("Citus cannot lock rows of several shards")(
  "endpoints are leased in the order in which their health is stored, so that the two never wait for each other",
  async () => {
    const test = await startServiceForTest();
    const { db } = test;
    const partner = await createPartner(test);
    for (let index = 0; index < 100; index += 1)
      await storeEndpoint(test, partner, { url: `https://a.example/${index}` });
    const states = () =>
      db.query<{ endpoint_id: string }>({
        name: "test-states",
        text: "select endpoint_id from webhook_endpoint_states order by endpoint_id",
        values: [],
      });
    const ids = (await states()).map((row) => row.endpoint_id);
    const [first] = ids;
    const lock = (endpointId: string | undefined, orFail = "") => ({
      name: `test-lock${orFail}`,
      text: `select from webhook_endpoint_states where endpoint_id = $1 for no key update ${orFail}`,
      values: [endpointId],
    });
    // By their numbers, and by where their rows are stored now, the first one is the last.
    for (const text of [
      "update webhook_endpoints set number = number + 1000 where id = $1",
      "update webhook_endpoint_states set warnings_sent = 0 where endpoint_id = $1",
    ])
      await db.query({ name: "", text, values: [first] });
    await db.runScript("analyze webhook_endpoints, webhook_endpoint_states, due_deliveries");
    const claimant = { workerId: randomUUID(), now: test.clock.now(), endpointLeasedUntil: test.clock.now() };
    const options = { due: ids, except: [], healthyOnly: false };
    const leasing = await db.transaction(async (tx) => {
      await tx.query(lock(first));
      const leased = leaseEndpoints(db, [connectionKey(partner)], claimant, options);
      await untilBlocked(test, 1);
      for (const id of ids) await tx.query(lock(id, "nowait"));
      return [leased];
    });
    expect((await Promise.all(leasing)).flat()).toHaveLength(ids.length);
  },
);
