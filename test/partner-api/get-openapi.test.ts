import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createPartner, type Partner } from "../support/builders.ts";
import { PARTNER } from "../support/openapi.ts";
import { startTestService, type TestService } from "../support/test-service.ts";

let test: TestService;
let partner: Partner;
beforeAll(async () => {
  test = await startTestService({ config: { baseUrl: "https://orders.example" } });
  partner = await createPartner(test);
});
afterAll(() => test.close());

describe("GET /v1/openapi.json", () => {
  it("returns the partner's document, with the address of the deployment", async () => {
    const { status, headers, body } = await partner.client.get("/v1/openapi.json");
    expect(status).toBe(200);
    expect(headers["content-type"]).toBe("application/json; charset=utf-8");
    expect(body).toEqual({ ...PARTNER, servers: [{ url: "https://orders.example" }] });
  });

  it("has partner routes only", async () => {
    const { body } = await partner.client.get("/v1/openapi.json");
    expect(Object.keys(body.paths).filter((path) => !path.startsWith("/v1/"))).toEqual([]);
    expect(JSON.stringify(body)).not.toContain("/api/");
  });

  it("needs a key, like every route", async () => {
    expect(await test.partner().get("/v1/openapi.json")).toMatchObject({
      status: 401,
      body: { code: "unauthorized" },
    });
  });

  it("is the only route like it", async () => {
    for (const path of ["/openapi.json", "/v1/openapi", "/v1/openapiXjson", "/v1/openapi.json/"])
      expect((await partner.client.get(path)).status, path).toBe(404);
    expect((await partner.client.post("/v1/openapi.json", {})).status).toBe(404);
  });
});
