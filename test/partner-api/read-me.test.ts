import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createKey, createPartner, type Partner } from "../support/builders.ts";
import { startTestService, type TestService } from "../support/test-service.ts";

let test: TestService;
let partner: Partner;
beforeAll(async () => {
  test = await startTestService();
  partner = await createPartner(test);
});
afterAll(() => test.close());

describe("GET /v1/me", () => {
  it("returns the connection, its merchant and the key in use", async () => {
    const { status, body } = await partner.client.get("/v1/me");
    expect(status).toBe(200);
    expect(body).toEqual({
      id: partner.connectionId,
      name: "Partner",
      merchant: { id: partner.merchantId, name: "Merchant" },
      key: {
        id: expect.stringMatching(/^key_/),
        mode: "live",
        prefix: partner.key.slice(0, 16),
        createdAt: "2026-03-02T09:00:00.000Z",
        expiresAt: null,
      },
      liveAgents: false,
      createdAt: "2026-03-02T09:00:00.000Z",
    });
  });

  it("shows which of several keys is in use, and when it expires", async () => {
    const { id, key } = await createKey(test, partner.connectionId, { expiresAt: "2027-01-01T00:00:00Z" });
    const { body } = await test.partner(key).get("/v1/me");
    expect(body.id).toBe(partner.connectionId);
    expect(body.key).toMatchObject({ id, prefix: key.slice(0, 16), expiresAt: "2027-01-01T00:00:00.000Z" });
  });

  it("never shows the key itself", async () => {
    const { body } = await partner.client.get("/v1/me");
    expect(JSON.stringify(body)).not.toContain(partner.key.slice(16));
  });
});
