import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { backOfficeRoutes } from "../../src/back-office/routes.ts";
import { partnerRoutes } from "../../src/partner-api/routes.ts";
import { fromTypeId, type IdPrefix } from "../../src/platform/ids.ts";
import { anOrder, createPartner, type Partner, placeOrder } from "../support/builders.ts";
import { expectProblem } from "../support/orders.ts";
import { dumpTables } from "../support/tables.ts";
import { type Client, startTestService, type TestService } from "../support/test-service.ts";

let test: TestService;
let partner: Partner;
beforeAll(async () => {
  test = await startTestService();
  partner = await createPartner(test);
});
afterAll(() => test.close());

const ID = "01m7y7np16fe68bxp4h91tdmdn";
/** The ids need not name anything: a query is validated before they are looked up. */
const filled = (path: string): string => path.replace(/\{(\w+)\}/g, `mer_${ID}`);
/** The schema of a query is that of an object. */
const namesOf = (query: object = {}): string[] =>
  "properties" in query ? Object.keys(query.properties ?? {}) : [];
const requiredIn = (query: object = {}): string[] =>
  "required" in query && Array.isArray(query.required) ? query.required : [];
const CSV = { rawBody: "sku,name,price\n", headers: { "content-type": "text/csv" } };
const withQuery = [...partnerRoutes, ...backOfficeRoutes].filter(({ query }) => query !== undefined);
const lists = withQuery.filter(({ query }) => namesOf(query).length > 0);
const listsWithoutParameters = withQuery.filter(({ query }) => namesOf(query).length === 0);

describe("an unknown parameter of a query", () => {
  it.each(lists.map(({ method, path, query }) => [method, path, namesOf(query), requiredIn(query)] as const))(
    "of %s %s",
    async (method, path, known, required) => {
      const [name = ""] = known;
      const client = path.startsWith("/v1/") ? partner.client : test.backOffice;
      const target = `${filled(path)}?unknwon=x&${name.toUpperCase()}=2`;
      const { status, body } = await client.request(method, target, method === "POST" ? CSV : {});
      if (path === "/v1/products") return expect(status).toBe(200);
      expect(status).toBe(422);
      expect(body.errors).toEqual([
        ...required.map((parameter) => ({ parameter, rule: "required", detail: "is required" })),
        {
          parameter: "unknwon",
          rule: "unknown_parameter",
          known,
          detail: `is not a known parameter; use ${known.join(", ")}`,
        },
        {
          parameter: name.toUpperCase(),
          rule: "unknown_parameter",
          known: [name],
          detail: `is not a known parameter; use ${name}`,
        },
      ]);
    },
  );

  it.each(listsWithoutParameters.map(({ method, path }) => [method, path] as const))(
    "of %s %s, which has none",
    async (method, path) => {
      const client = path.startsWith("/v1/") ? partner.client : test.backOffice;
      const request = method === "POST" ? { body: {} } : {};
      expectProblem(
        await client.request(method, `${filled(path)}?status=NEW`, request),
        422,
        "validation-failed",
        {
          errors: [
            {
              parameter: "status",
              rule: "unknown_parameter",
              known: [],
              detail: "is not a known parameter; there are none",
            },
          ],
        },
      );
    },
  );

  it("is ignored by the products of a partner, as before", async () => {
    const { body } = await partner.client.get("/v1/products?sort=sku&Limit=1");
    expect(body.data).toHaveLength(2);
  });

  it("is ignored by routes that neither have parameters nor are lists", async () => {
    const { client } = partner;
    const { id } = (await client.post("/v1/orders?status=NEW", anOrder(partner))).body;
    for (const path of ["/v1/me", `/v1/orders/${id}`, `/v1/products/${partner.productIds[0]}`])
      expect((await client.get(`${path}?unknwon=x`)).status, path).toBe(200);
    expect((await client.post(`/v1/orders/${id}/cancel?unknwon=x`)).status).toBe(200);
  });

  it("is reported beside the errors of known ones", async () => {
    const { body } = await partner.client.get("/v1/events?typ=order.created&limit=0&limit_=1");
    const parameters = body.errors.map(({ parameter }: { parameter: string }) => parameter);
    expect(parameters.sort()).toEqual(["limit", "limit_", "typ"]);
  });

  it("can have any name", async () => {
    for (const name of ["__proto__", "constructor", "%00", "a%2Fb", ""])
      expect((await partner.client.get(`/v1/deliveries?${name}=1`)).status, name).toBe(422);
    const many = Array.from({ length: 2_000 }, (_, at) => `p${at}`).join("&");
    const { status, body } = await partner.client.get(`/v1/deliveries?${many}`);
    expect([status, body.errors.length]).toEqual([422, 500]);
  });
});

describe("an unknown field of a filter", () => {
  const connection = () => `/api/connections/${partner.connectionId}`;
  const filterErrors = async (client: Client, path: string, body: object) => {
    const answer = await client.request("POST", path, { body });
    expect([answer.status, answer.body.code]).toEqual([422, "validation-failed"]);
    return answer.body.errors;
  };

  it("does not find all orders", async () => {
    const known =
      "status, onHold, testMode, createdSince, createdUntil, updatedSince, externalOrderIds, limit, cursor";
    expect(
      await filterErrors(partner.client, "/v1/orders/search", { statuses: ["NEW"], test_mode: true }),
    ).toEqual([
      {
        pointer: "/statuses",
        rule: "unknown_field",
        known: known.split(", "),
        detail: `is not a known field; use ${known}`,
      },
      {
        pointer: "/test_mode",
        rule: "unknown_field",
        known: ["testMode"],
        detail: "is not a known field; use testMode",
      },
    ]);
  });

  it("neither exposes nor withdraws the whole catalog", async () => {
    const before = await dumpTables(test);
    for (const operation of ["expose", "withdraw"])
      expect(
        await filterErrors(test.backOffice, `${connection()}/products/${operation}`, {
          filter: { search: "Mug" },
        }),
      ).toEqual([
        {
          pointer: "/filter/search",
          rule: "unknown_field",
          known: ["sku", "status", "q", "connectionId", "exposed"],
          detail: "is not a known field; use sku, status, q, connectionId, exposed",
        },
      ]);
    expect(await dumpTables(test)).toEqual(before);
  });

  it("does not send all deliveries of a period again", async () => {
    const body = { since: test.clock.now().toISOString(), orderId: "ord_1" };
    expect(await filterErrors(test.backOffice, `${connection()}/resends`, body)).toEqual([
      {
        pointer: "/orderId",
        rule: "unknown_field",
        known: ["deliveryIds", "since", "until", "endpointId", "eventType", "status"],
        detail: "is not a known field; use deliveryIds, since, until, endpointId, eventType, status",
      },
    ]);
  });

  it("can have any name, and be one of many", async () => {
    const names = Object.fromEntries(Array.from({ length: 9_000 }, (_, at) => [`f${at}`, 1]));
    expect(await filterErrors(partner.client, "/v1/orders/search", names)).toHaveLength(500);
    for (const name of ["constructor", "", "a/b"])
      expect(await filterErrors(partner.client, "/v1/orders/search", { [name]: 1 })).toHaveLength(1);
  });
});

describe("a field that is nearly a known one", () => {
  it("does not place an order that would not be a test order", async () => {
    const before = await dumpTables(test);
    for (const name of ["testmode", "test_mode", "TestMode"])
      expectProblem(
        await partner.client.post("/v1/orders", anOrder(partner, { [name]: true })),
        422,
        "validation-failed",
        {
          errors: [
            {
              pointer: `/${name}`,
              rule: "unknown_field",
              known: ["testMode"],
              detail: "is not a known field; use testMode",
            },
          ],
        },
      );
    expect(await dumpTables(test)).toEqual(before);
  });

  it("is reported with all other errors, at its place", async () => {
    const { shippingAddress, ...order } = anOrder(partner, { external_order_id: "x" });
    const { zip, ...address } = shippingAddress;
    const lines = [{ productId: partner.productIds[0], Quantity: 1 }];
    const { body } = await partner.client.post("/v1/orders", {
      ...order,
      lines,
      shippingAddress: { ...address, ZIP: zip },
    });
    const pointers = body.errors.map(({ pointer }: { pointer: string }) => pointer);
    expect(pointers.sort()).toEqual(
      [
        "/external_order_id",
        "/lines/0/Quantity",
        "/lines/0/quantity",
        "/shippingAddress/ZIP",
        "/shippingAddress/zip",
      ].sort(),
    );
  });

  it("is rejected by the other bodies of both listeners", async () => {
    const { id } = await placeOrder(partner, { testMode: true });
    const answers = [
      await partner.client.post(`/v1/test/orders/${id}/transitions`, { transition: "ship", line_ids: [] }),
      await partner.client.post("/v1/webhook-endpoints", { url: "https://1.1.1.1/", event_types: [] }),
      await test.backOffice.post(`/api/connections/${partner.connectionId}/keys`, { expires_at: null }),
      await test.backOffice.request("PATCH", `/api/connections/${partner.connectionId}`, {
        body: { reviewPolicy: { MaxQuantity: 1 } },
      }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([422, 422, 422, 422]);
    expect(answers.map(({ body }) => body.errors[0].pointer)).toEqual([
      "/line_ids",
      "/event_types",
      "/expires_at",
      "/reviewPolicy/MaxQuantity",
    ]);
  });

  it("is not another unknown field, which is ignored", async () => {
    const order = anOrder(partner, {
      colour: "red",
      lines: [{ productId: partner.productIds[0], quantity: 1, sku: "S" }],
    });
    expect((await partner.client.post("/v1/orders", order)).status).toBe(201);
  });
});

const uuidOf = (prefix: IdPrefix, id: string) => fromTypeId(prefix, id);

describe("an unknown field of a change", () => {
  /** The names that the service itself uses for what the fields mean. */
  const changesOf = (other: Partner) =>
    [
      [`/api/merchants/${partner.merchantId}`, { id: uuidOf("mer", other.merchantId), currency: "JPY" }],
      [`/api/merchants/${partner.merchantId}`, { creditLimitMinor: "5" }],
      [`/api/products/${partner.productIds[0]}`, { id: other.productIds[0], priceMinor: 1, merchantId: 1 }],
      [
        `/api/connections/${partner.connectionId}`,
        { text: "\0".repeat(3), reviewPolicy: { countries: null } },
      ],
      [`/api/connections/${partner.connectionId}`, { limits: { anything: "\0" } }],
    ] as const;

  it("changes nothing, neither there nor of another merchant", async () => {
    const other = await createPartner(test);
    const paths = [partner, other].flatMap(({ merchantId, productIds, connectionId }) => [
      `/api/merchants/${merchantId}`,
      ...[`/api/products/${productIds[0]}`, `/api/connections/${connectionId}`],
    ]);
    const read = async () => {
      const answers = await Promise.all(paths.map((path) => test.backOffice.get(path)));
      return answers.map(({ body: { updatedAt: _, ...rest } }) => rest);
    };
    const newestEntry = async () => (await test.backOffice.get("/api/audit-entries?limit=1")).body.data;
    const [before, entry] = [await read(), await newestEntry()];
    for (const [path, body] of changesOf(other))
      expect((await test.backOffice.request("PATCH", path, { body })).status, path).toBe(200);
    expect(await read()).toEqual(before);
    expect(await newestEntry(), "nothing is recorded").toEqual(entry);
  });

  it("is not a correction of an address", async () => {
    const { id } = await placeOrder(partner, {});
    const path = `/api/orders/${id}/shipping-address`;
    const before = (await test.backOffice.get(`/api/orders/${id}`)).body;
    const { status } = await test.backOffice.request("PATCH", path, { body: { street: "x".repeat(9_999) } });
    expect(status).toBe(200);
    expect((await test.backOffice.get(`/api/orders/${id}`)).body).toEqual(before);
  });
});
