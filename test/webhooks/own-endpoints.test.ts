import { Webhook } from "standardwebhooks";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { created, createPartner, type Partner } from "../support/builders.ts";
import { sendDue, startDispatcher, startReceiverForTest } from "../support/dispatch.ts";
import { createFacility } from "../support/facilities.ts";
import { runJob } from "../support/jobs.ts";
import { expectErrors, expectProblem } from "../support/orders.ts";
import { answering, type ReceivedRequest } from "../support/receivers.ts";
import { type Client, startTestService, type TestService } from "../support/test-service.ts";
import { uuidIn } from "../support/webhooks.ts";

// docs/design/deliveries.md, "Owners".

let test: TestService;
let partner: Partner;
let facilityId: string;
let merchant: Client;
let packer: Client;
beforeAll(async () => {
  test = await startTestService({ config: { webhookAllowPrivateNetworks: true, webhookRetryMs: [60_000] } });
  partner = await createPartner(test);
  facilityId = await createFacility(test);
  merchant = personOfMerchant(partner);
  packer = personAt(facilityId);
});
afterAll(() => test.close());

const personOfMerchant = ({ merchantId }: Partner): Client =>
  test.backOfficeFor({ kind: "merchant", merchantIds: [uuidIn("mer", merchantId)], name: "Mia" });
const personAt = (id: string): Client =>
  test.backOfficeFor({ grants: [{ role: "warehouse", facilityIds: [uuidIn("fac", id)] }], name: "Wilma" });

/** Each owner: where its endpoints are, and whose they are. */
const OWNERS = [
  ["a merchant", () => ({ path: `/api/merchants/${partner.merchantId}`, own: merchant })],
  ["a facility", () => ({ path: `/api/facilities/${facilityId}`, own: packer })],
] as const;

const idsOf = (owner: { path: string }) =>
  owner.path.includes("merchants")
    ? { merchantId: partner.merchantId, facilityId: null }
    : { merchantId: null, facilityId };

describe.each(OWNERS)("the endpoints of %s", (_name, ownerOf) => {
  it("are created, read, changed, listed and deleted like those of partners", async () => {
    const { path, own } = ownerOf();
    const { secret, ...endpoint } = await created(
      own.post(`${path}/webhook-endpoints`, { url: "https://1.1.1.1/hooks?token=t0ken", description: "ERP" }),
    );
    expect(secret).toMatch(/^whsec_/);
    expect(endpoint).toMatchObject({
      ...idsOf({ path }),
      url: "https://1.1.1.1/hooks?token=t0ken",
      description: "ERP",
      status: "active",
      health: "healthy",
      maxInFlight: 8,
    });
    expect(endpoint).not.toHaveProperty("mode");
    expect(endpoint.eventTypes).toContain("order.readyToShip");
    const endpointPath = `${path}/webhook-endpoints/${endpoint.id}`;
    expect((await own.get(endpointPath)).body).toEqual(endpoint);
    const listed = await own.get(`${path}/webhook-endpoints`);
    expect(listed.body.data.map(({ id }: { id: string }) => id)).toContain(endpoint.id);
    const changed = await own.request("PATCH", endpointPath, { body: { eventTypes: ["return.recorded"] } });
    expect(changed.body).toMatchObject({ eventTypes: ["return.recorded"], description: "ERP" });
    expect((await own.request("DELETE", endpointPath)).status).toBe(204);
    expectProblem(await own.get(endpointPath), 404, "not-found");
  });

  it("cannot name the events of partners, and an endpoint of a partner cannot name theirs", async () => {
    const { path, own } = ownerOf();
    const url = "https://1.1.1.1/hooks";
    const refused = await own.post(`${path}/webhook-endpoints`, { url, eventTypes: ["order.onHold"] });
    expectErrors(refused, [{ pointer: "/eventTypes/0" }]);
    const partners = await partner.client.post("/v1/webhook-endpoints", {
      url,
      eventTypes: ["return.recorded"],
    });
    expectErrors(partners, [{ pointer: "/eventTypes/0" }]);
  });

  it("hide the query of their address from the operator, who may have no use for its secrets", async () => {
    const { path, own } = ownerOf();
    const { id } = await created(
      own.post(`${path}/webhook-endpoints`, { url: "https://1.1.1.1/h?token=t0ken" }),
    );
    expect((await test.backOffice.get(`${path}/webhook-endpoints/${id}`)).body.url).toBe(
      "https://1.1.1.1/h?…",
    );
  });

  it("receive a signed ping, which the log shows with its request and sends again", async () => {
    const { path, own } = ownerOf();
    const receiver = await startReceiverForTest();
    const endpoint = await created(own.post(`${path}/webhook-endpoints`, { url: receiver.url }));
    const dispatcher = startDispatcher(test);
    const ping = await own.post(`${path}/webhook-endpoints/${endpoint.id}/ping`);
    expect(ping.status, JSON.stringify(ping.body)).toBe(202);
    await sendDue(dispatcher);
    const [request] = await receiver.waitFor(1);
    expect(verified(request, endpoint.secret)).toEqual({
      id: ping.body.eventId,
      type: "webhook.ping",
      timestamp: ping.body.createdAt,
      ...idsOf({ path }),
      data: { endpoint: { id: endpoint.id, url: receiver.url } },
    });
    const delivery = `${path}/deliveries/${ping.body.id}`;
    const { body } = await own.get(delivery);
    expect(body).toMatchObject({ status: "succeeded", attemptCount: 1 });
    expect(body.attempts[0].request.body).toBe(request?.body);
    expect(body.attempts[0].request.headers["webhook-signature"]).toBe(request?.headers["webhook-signature"]);

    expect((await own.post(`${delivery}/redeliver`)).status).toBe(202);
    await sendDue(dispatcher);
    expect(await receiver.waitFor(2)).toHaveLength(2);
    const resend = await own.post(`${path}/resends`, { deliveryIds: [ping.body.id] });
    expect(resend.status, JSON.stringify(resend.body)).toBe(202);
    await runJob(test, "resend-deliveries");
    await sendDue(dispatcher);
    expect(await receiver.waitFor(3)).toHaveLength(3);
    await runJob(test, "resend-deliveries");
    expect((await own.get(`${path}/resends/${resend.body.id}`)).body).toMatchObject({
      status: "finished",
      succeededCount: 1,
    });
    const page = await own.get(`${path}/deliveries?endpointId=${endpoint.id}`);
    expect(page.body.data).toMatchObject([{ id: ping.body.id, eventType: "webhook.ping", orderId: null }]);
  });

  it("receive a sample of each type that they can name", async () => {
    const { path, own } = ownerOf();
    const receiver = await startReceiverForTest();
    const endpoint = await created(own.post(`${path}/webhook-endpoints`, { url: receiver.url }));
    for (const type of endpoint.eventTypes)
      expect((await own.post(`${path}/webhook-endpoints/${endpoint.id}/ping`, { type })).status).toBe(202);
    const dispatcher = startDispatcher(test);
    for (let round = 0; round < 3; round += 1) await sendDue(dispatcher);
    const samples = receiver.requests.map((request) => verified(request, endpoint.secret));
    expect(samples.map((sample) => (sample as { type: string }).type).toSorted()).toEqual(
      endpoint.eventTypes.toSorted(),
    );
    const ofOrder = { order: { id: expect.stringMatching(/^ord_/) } };
    const ofStock = { stock: { facilityId: expect.stringMatching(/^fac_/) } };
    for (const sample of samples) {
      const { type } = sample as { type: string };
      const data = type === "stock.low" ? ofStock : ofOrder;
      expect(sample).toMatchObject({ ...idsOf({ path }), data });
    }
  });

  it("are retried, paused, resumed and recovered", async () => {
    const { path, own } = ownerOf();
    let status = 500;
    const receiver = await startReceiverForTest((request, response) => answering(status)(request, response));
    const endpoint = await created(own.post(`${path}/webhook-endpoints`, { url: receiver.url }));
    const endpointPath = `${path}/webhook-endpoints/${endpoint.id}`;
    const dispatcher = startDispatcher(test);
    const ping = await own.post(`${endpointPath}/ping`);
    await sendDue(dispatcher);
    expect((await own.get(endpointPath)).body).toMatchObject({ health: "failing", pendingDeliveries: 1 });
    expect((await own.post(`${endpointPath}/pause`)).body).toMatchObject({ pauseReason: "requested" });
    expectProblem(await own.post(`${endpointPath}/ping`), 409, "endpoint-paused");
    await runJob(test, "clear-endpoints");
    status = 200;
    expect((await own.post(`${endpointPath}/resume`)).body).toMatchObject({ status: "active" });
    await runJob(test, "resend-deliveries");
    await sendDue(dispatcher);
    expect((await own.get(`${path}/deliveries/${ping.body.id}`)).body.status).toBe("succeeded");
    const since = ping.body.createdAt;
    expect((await own.post(`${endpointPath}/recover`, { since })).body).toMatchObject({ deliveryCount: 0 });
  });

  it("sign with both secrets during a rotation", async () => {
    const { path, own } = ownerOf();
    const receiver = await startReceiverForTest();
    const endpoint = await created(own.post(`${path}/webhook-endpoints`, { url: receiver.url }));
    const rotated = await own.post(`${path}/webhook-endpoints/${endpoint.id}/rotate-secret`);
    await own.post(`${path}/webhook-endpoints/${endpoint.id}/ping`);
    await sendDue(startDispatcher(test));
    const [request] = await receiver.waitFor(1);
    expect(verified(request, endpoint.secret)).toEqual(verified(request, rotated.body.secret));
  });

  it("look exactly like missing ones to another owner", async () => {
    const { path, own } = ownerOf();
    const endpoint = await created(own.post(`${path}/webhook-endpoints`, { url: "https://1.1.1.1/hooks" }));
    const strangers = [personOfMerchant(await createPartner(test)), personAt(await createFacility(test))];
    for (const stranger of strangers) {
      const { status, body } = await stranger.get(`${path}/webhook-endpoints/${endpoint.id}`);
      expect([403, 404]).toContain(status);
      expect(JSON.stringify(body)).not.toContain(endpoint.url);
    }
    // The same endpoint below another owner of the same caller.
    for (const elsewhere of [
      `/api/connections/${partner.connectionId}`,
      `/api/merchants/${(await createPartner(test)).merchantId}`,
      `/api/facilities/${await createFacility(test)}`,
    ])
      expectProblem(
        await test.backOffice.get(`${elsewhere}/webhook-endpoints/${endpoint.id}`),
        404,
        "not-found",
      );
    expectProblem(await partner.client.get(`/v1/webhook-endpoints/${endpoint.id}`), 404, "not-found");
  });

  it("are in the audit log with their owner", async () => {
    const { path, own } = ownerOf();
    const { id } = await created(own.post(`${path}/webhook-endpoints`, { url: "https://1.1.1.1/hooks" }));
    const { body } = await test.backOffice.get(`/api/audit-entries?subjectId=${id}`);
    const isMerchants = path.includes("merchants");
    expect(body.data).toMatchObject([
      {
        action: isMerchants ? "createMerchantWebhookEndpoint" : "createFacilityWebhookEndpoint",
        merchantId: isMerchants ? partner.merchantId : null,
        connectionId: null,
      },
    ]);
    if (!isMerchants) expect(body.data[0].details).toMatchObject({ facilityId });
  });
});

describe("the limits of own endpoints", () => {
  it("are those of a connection, for each merchant and each facility", async () => {
    const owners = [(await createPartner(test)).merchantId, await createFacility(test)];
    for (const [index, id] of owners.entries()) {
      const path = `/api/${index === 0 ? "merchants" : "facilities"}/${id}/webhook-endpoints`;
      for (let count = 0; count < 200; count += 1)
        expect((await test.backOffice.post(path, { url: "https://1.1.1.1/h" })).status).toBe(201);
      const refused = await test.backOffice.post(path, { url: "https://1.1.1.1/h" });
      expect(refused.body).toMatchObject({ code: "limit-reached", limit: "endpoints", maximum: 200 });
    }
  });

  it("count among all endpoints of the merchant", async () => {
    const one = await createPartner(test);
    const limits = { merchantEndpoints: 1 };
    await test.backOffice.request("PATCH", `/api/merchants/${one.merchantId}`, { body: { limits } });
    await created(
      test.backOffice.post(`/api/merchants/${one.merchantId}/webhook-endpoints`, {
        url: "https://1.1.1.1/h",
      }),
    );
    const refused = await one.client.post("/v1/webhook-endpoints", { url: "https://1.1.1.1/h" });
    expect(refused.body).toMatchObject({ code: "limit-reached", limit: "merchantEndpoints" });
  });
});

describe("the lists of all endpoints and deliveries", () => {
  it("show the operator those of each kind of owner, and a merchant its own", async () => {
    const one = await createPartner(test);
    const at = await createFacility(test);
    const paths = [
      `/api/connections/${one.connectionId}`,
      `/api/merchants/${one.merchantId}`,
      `/api/facilities/${at}`,
    ];
    const made = [];
    for (const path of paths) {
      const { id } = await created(
        test.backOffice.post(`${path}/webhook-endpoints`, { url: "https://1.1.1.1/h" }),
      );
      const { body } = await test.backOffice.post(`${path}/webhook-endpoints/${id}/ping`);
      made.push({ endpointId: id, deliveryId: body.id });
    }
    for (const [index, owner] of (["connection", "merchant", "facility"] as const).entries()) {
      const { endpointId, deliveryId } = made[index] ?? {};
      const endpoints = await allIds(test.backOffice, `/api/webhook-endpoints?limit=100&owner=${owner}`);
      expect(endpoints).toContain(endpointId);
      const deliveries = await allIds(test.backOffice, `/api/deliveries?limit=100&owner=${owner}`);
      expect(deliveries).toContain(deliveryId);
      for (const other of made.filter((each) => each.endpointId !== endpointId)) {
        expect(endpoints).not.toContain(other.endpointId);
        expect(deliveries).not.toContain(other.deliveryId);
      }
    }
    const [ofConnection, ofMerchant] = made;
    const own = personOfMerchant(one);
    expect((await allIds(own, "/api/webhook-endpoints")).toSorted()).toEqual(
      [ofConnection?.endpointId, ofMerchant?.endpointId].toSorted(),
    );
    const { body } = await own.get("/api/deliveries");
    expect(body.data).toMatchObject([
      {
        id: ofMerchant?.deliveryId,
        merchantId: one.merchantId,
        merchantName: "Merchant",
        connectionId: null,
        connectionName: null,
      },
      { id: ofConnection?.deliveryId, merchantId: one.merchantId, connectionId: one.connectionId },
    ]);
  });

  it("show people of the warehouse those of their facilities, and nothing of merchants", async () => {
    const [here, there] = [await createFacility(test), await createFacility(test)];
    await test.backOffice.request("PATCH", `/api/facilities/${here}`, { body: { name: "Hall one" } });
    const made = [];
    for (const path of [`/api/facilities/${here}`, `/api/facilities/${there}`]) {
      const { id } = await created(
        test.backOffice.post(`${path}/webhook-endpoints`, { url: "https://1.1.1.1/h?key=k" }),
      );
      made.push(id);
      expect((await test.backOffice.post(`${path}/webhook-endpoints/${id}/ping`)).status).toBe(202);
    }
    const ofHere = personAt(here);
    const { body } = await ofHere.get("/api/webhook-endpoints");
    expect(body.data).toMatchObject([
      { id: made[0], facilityId: here, facilityName: "Hall one", merchantName: null, connectionName: null },
    ]);
    expect((await ofHere.get("/api/deliveries")).body.data).toMatchObject([
      { facilityId: here, facilityName: "Hall one", merchantId: null },
    ]);
    const ofAll = test.backOfficeFor({ grants: [{ role: "warehouse", facilityIds: null }], name: "Wim" });
    const seen = await allIds(ofAll, "/api/webhook-endpoints?limit=100");
    expect(seen).toEqual(expect.arrayContaining(made));
    expect(seen).toEqual(await allIds(test.backOffice, "/api/webhook-endpoints?limit=100&owner=facility"));
  });
});

describe("a deleted endpoint of a merchant or a facility", () => {
  it("is removed with its log, like all others", async () => {
    for (const path of [`/api/merchants/${partner.merchantId}`, `/api/facilities/${facilityId}`]) {
      const { id } = await created(
        test.backOffice.post(`${path}/webhook-endpoints`, { url: "https://1.1.1.1/h" }),
      );
      await test.backOffice.request("DELETE", `${path}/webhook-endpoints/${id}`);
      test.clock.advance({ minutes: 61 });
      await runJob(test, "remove-deleted-endpoints");
      const rows = await test.db.query({
        name: "test-find-endpoint",
        text: "select id from webhook_endpoints where id = $1",
        values: [uuidIn("whe", id)],
      });
      expect(rows).toEqual([]);
    }
  });
});

/** The ids of a whole list. */
async function allIds(client: Client, path: string): Promise<string[]> {
  const ids: string[] = [];
  for (let cursor: string | null = ""; cursor !== null; ) {
    const { body } = await client.get(
      cursor === "" ? path : `${path}${path.includes("?") ? "&" : "?"}cursor=${cursor}`,
    );
    ids.push(...body.data.map(({ id }: { id: string }) => id));
    cursor = body.nextCursor;
  }
  return ids;
}

/** The event in a request whose signature is right. */
function verified(request: ReceivedRequest | undefined, secret: string): unknown {
  if (request === undefined) throw new Error("Nothing was received.");
  // The library compares the time with that of this machine, and the service has a clock of the test.
  vi.useFakeTimers({ now: test.clock.now(), toFake: ["Date"] });
  try {
    return new Webhook(secret).verify(request.body, request.headers as Record<string, string>);
  } finally {
    vi.useRealTimers();
  }
}
