import { expect, it } from "vitest";
import { createPartner } from "../support/builders.ts";
import { errorsOf } from "../support/config-variables.ts";
import { expectProblem } from "../support/orders.ts";
import { startServiceForTest } from "../support/test-service.ts";

const PATH = "/v1/webhook-sources";

it("says that the addresses are not known, and needs a key", async () => {
  const test = await startServiceForTest();
  const { client } = await createPartner(test);
  const { status, body } = await client.get(PATH);
  expect(status).toBe(200);
  expect(body).toEqual({ addresses: null, nextChangeAt: null, nextAddresses: null });
  expectProblem(await test.partner().get(PATH), 401, "unauthorized");
});

it("returns the present addresses and announces the next ones, until the change", async () => {
  const at = new Date("2026-03-02T10:00:00Z");
  const config = {
    webhookSources: ["203.0.113.0/24"],
    webhookSourcesNext: { at, addresses: ["198.51.100.7/32"] },
  };
  const test = await startServiceForTest({ config });
  const { client } = await createPartner(test);
  expect((await client.get(PATH)).body).toEqual({
    addresses: ["203.0.113.0/24"],
    nextChangeAt: at.toISOString(),
    nextAddresses: ["198.51.100.7/32"],
  });
  test.clock.advance({ hours: 1 });
  const after = { addresses: ["198.51.100.7/32"], nextChangeAt: null, nextAddresses: null };
  expect((await client.get(PATH)).body).toEqual(after);
});

it("a change is announced beside the present addresses only", () => {
  const next = "2027-01-15T06:00:00Z 198.51.100.7, 203.0.113.0/24";
  expect(errorsOf({ WEBHOOK_SOURCES_NEXT: next })).toEqual(["WEBHOOK_SOURCES_NEXT needs WEBHOOK_SOURCES."]);
  expect(errorsOf({ WEBHOOK_SOURCES: "203.0.113.0/24", WEBHOOK_SOURCES_NEXT: next })).toEqual([]);
});
