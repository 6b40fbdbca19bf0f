import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { markCertified } from "../../src/merchants/connections-sql.ts";
import { createPartner, type Partner } from "../support/builders.ts";
import { connectionKey, expectProblem } from "../support/orders.ts";
import { startTestService, type TestService } from "../support/test-service.ts";

// docs/design/certification.md, "Before a live key"

let test: TestService;
let partner: Partner;
let path: string;
beforeAll(async () => {
  test = await startTestService();
});
beforeEach(async () => {
  partner = await createPartner(test);
  path = `/api/connections/${partner.connectionId}`;
});
afterAll(() => test.close());

const require = (certificationMaxAgeDays: number | null, client = test.backOffice) =>
  client.request("PATCH", path, { body: { certificationMaxAgeDays } });
const issue = (body: object = {}) => test.backOffice.post(`${path}/keys`, body);
/** As the end of a run that has passed. */
const pass = () => test.db.transaction((tx) => markCertified(tx, connectionKey(partner), test.clock.now()));

describe("a connection that requires a certification", () => {
  it("gets no live key before one has passed, and test keys at any time", async () => {
    expect((await require(30)).body).toMatchObject({ certificationMaxAgeDays: 30, certifiedAt: null });
    expectProblem(await issue(), 409, "certification-required", {
      certificationMaxAgeDays: 30,
      certifiedAt: null,
    });
    expect((await issue({ mode: "test" })).status).toBe(201);
    await pass();
    expect((await issue()).status).toBe(201);
  });

  it("accepts one of exactly so many days, and none that is older", async () => {
    await require(30);
    await pass();
    const certifiedAt = test.clock.now().toISOString();
    test.clock.advance({ hours: 30 * 24 });
    expect((await issue()).status).toBe(201);
    test.clock.advance({ ms: 1 });
    expectProblem(await issue(), 409, "certification-required", { certificationMaxAgeDays: 30, certifiedAt });
    await require(31);
    expect((await issue()).status).toBe(201);
    await require(null);
    test.clock.advance({ hours: 9_000 });
    expect((await issue()).status).toBe(201);
  });

  it("of a rotation of a live key, the new one does not end later than the old one", async () => {
    const { body: endless } = await issue();
    const soon = new Date(test.clock.now().getTime() + 3_600_000).toISOString();
    const { body: ending } = await issue({ expiresAt: soon });
    const { body: ofTests } = await issue({ mode: "test", expiresAt: soon });
    await require(30);
    const rotate = (id: string, body: object = {}) => test.backOffice.post(`/api/keys/${id}/rotate`, body);
    test.clock.advance({ minutes: 10 });
    expect((await rotate(endless.id, { overlapHours: 0 })).status).toBe(201);
    for (const body of [{}, { expiresAt: null }, { expiresAt: new Date(Date.parse(soon) + 1).toISOString() }])
      expectProblem(await rotate(ending.id, body), 409, "certification-required", {
        certificationMaxAgeDays: 30,
        certifiedAt: null,
      });
    expect((await rotate(ofTests.id)).status).toBe(201);
    expect((await rotate(ending.id, { expiresAt: soon })).status).toBe(201);
  });

  it("beside the change of the setting: each key is from before it, or is rejected", async () => {
    const answers = await Promise.all([
      ...Array.from({ length: 5 }, () => issue()),
      require(1),
      ...Array.from({ length: 5 }, () => issue()),
    ]);
    const issued = answers.filter(({ status }) => status === 201).length;
    const { body: connection } = await test.backOffice.get(path);
    const { body: keys } = await test.backOffice.get(`${path}/keys`);
    expect(connection.certificationMaxAgeDays).toBe(1);
    expect(keys.data).toHaveLength(1 + issued); // With that of the partner.
    expect((await issue()).status).toBe(409);
  });
});

describe("certificationMaxAgeDays", () => {
  it("is 1 to 3650, or null", async () => {
    for (const days of [1, 3650, null]) expect((await require(days)).status).toBe(200);
    for (const days of [0, 3651, 1.5])
      expectProblem(await require(days), 422, "validation-failed", { errors: expect.anything() });
  });

  it("is set by the operator and the merchant alone, and is in the audit log", async () => {
    const { merchantId } = connectionKey(partner);
    const merchant = test.backOfficeFor({ kind: "merchant", name: "Shop", merchantIds: [merchantId] });
    expect((await require(7, merchant)).status).toBe(200);
    const [entry] = (await test.backOffice.get("/api/audit-entries?limit=1")).body.data;
    expect(entry).toMatchObject({ action: "updateConnection", details: { certificationMaxAgeDays: "7" } });
    const connections = [connectionKey(partner)];
    const developer = test.backOfficeFor({ kind: "partner", name: "Dev", connections });
    expect((await require(null, developer)).status).toBe(403);
    expect((await developer.get(`${path}/certifications`)).body).toEqual({ data: [], nextCursor: null });
    const other = test.backOfficeFor({
      kind: "merchant",
      name: "Other",
      merchantIds: [test.context.newId()],
    });
    expect((await require(null, other)).status).toBe(404);
    expect((await other.get(`${path}/certifications`)).status).toBe(404);
  });
});
