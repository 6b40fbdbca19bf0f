import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createBackOffice } from "../../src/back-office/app.ts";
import { operatorAuthentication } from "../../src/back-office/authentication.ts";
import { BODY_LIMIT_BYTES } from "../../src/http/body.ts";
import { CONNECTION_LIMITS } from "../../src/merchants/limits.ts";
import { TRANSITION_RULES } from "../../src/orders/changes/transition-order.ts";
import { createPartnerApi } from "../../src/partner-api/app.ts";
import { openDatabase } from "../../src/platform/database/database.ts";
import { createMetrics } from "../../src/platform/metrics.ts";
import { PROBLEMS, type ProblemCode } from "../../src/platform/wire/problems.ts";
import { anOrder, createPartner, placeOrder, placeTestOrder } from "../support/builders.ts";
import { PARTNER } from "../support/openapi.ts";
import { peopleProblems } from "../support/people-problems.ts";
import {
  ERRORS_BASE_URL,
  expectRejection,
  type Rejected,
  startWire,
  type Wire,
} from "../support/rejections.ts";
import { OPERATOR_TOKEN, startServiceForTest } from "../support/test-service.ts";
import { anEndpoint, createEndpoint, ENDPOINTS, endpointPath, pauseEndpoint } from "../support/webhooks.ts";

let wire: Wire;
beforeAll(async () => {
  wire = await startWire();
});
afterAll(() => wire.close());

describe("every code of the table", () => {
  /** A request that causes the code, and the path that the problem names. */
  const PROVOCATIONS: Record<ProblemCode, () => Promise<[answer: Rejected, instance: string]>> = {
    "malformed-request": async () => [
      await wire.send("POST /v1/orders", wire.authorizedJson(), "{"),
      "/v1/orders",
    ],
    "idempotency-key-missing": async () => {
      const { externalOrderId: _, ...order } = anOrder(wire.partner);
      return [await wire.postOrder(order), "/v1/orders"];
    },
    forbidden: async () => {
      const warehouse = wire.test.backOfficeFor({ kind: "warehouse", name: "Packer" });
      const { body, ...answer } = await warehouse.post("/api/merchants", {});
      return [{ ...answer, document: body }, "/api/merchants"];
    },
    unauthorized: async () => [await wire.send("GET /v1/me", {}), "/v1/me"],
    "not-found": async () => [await wire.send("GET /v1/orders/nothing"), "/v1/orders/nothing"],
    "order-not-cancelable": async () => {
      const { id } = await placeTestOrder(wire.partner);
      await wire.partner.client.post(`/v1/test/orders/${id}/transitions`, { transition: "accept" });
      return [await wire.send(`POST /v1/orders/${id}/cancel`), `/v1/orders/${id}/cancel`];
    },
    "order-already-exists": async () => {
      const { externalOrderId } = await placeOrder(wire.partner);
      const order = anOrder(wire.partner, { externalOrderId });
      return [await wire.postOrder(order, { "idempotency-key": `another ${externalOrderId}` }), "/v1/orders"];
    },
    "transition-refused": async () => {
      const { id } = await placeTestOrder(wire.partner);
      const path = `/v1/test/orders/${id}/transitions`;
      return [await wire.send(`POST ${path}`, wire.authorizedJson(), '{"transition":"complete"}'), path];
    },
    "endpoint-paused": async () => {
      const { id } = await createEndpoint(wire.partner);
      await pauseEndpoint(wire.test, id);
      return [await wire.send(`POST ${endpointPath(id, "ping")}`), endpointPath(id, "ping")];
    },
    "certification-not-possible": async () => {
      const { id } = await createEndpoint(wire.partner, { mode: "test", eventTypes: ["order.created"] });
      const body = JSON.stringify({ endpointId: id });
      const path = "/v1/test/certifications";
      return [await wire.send(`POST ${path}`, wire.authorizedJson(), body), path];
    },
    "certification-required": async () => {
      const { connectionId } = await createPartner(wire.test);
      const connection = `/api/connections/${connectionId}`;
      await wire.test.backOffice.request("PATCH", connection, { body: { certificationMaxAgeDays: 30 } });
      const { body, ...answer } = await wire.test.backOffice.post(`${connection}/keys`, {});
      return [{ ...answer, document: body }, `${connection}/keys`];
    },
    "stock-changed": async () => {
      const facility = { name: "Depot", countryCode: "GB" };
      const { id } = (await wire.test.backOffice.post("/api/facilities", facility)).body;
      const path = `/api/facilities/${id}/stock/${wire.partner.productIds[0]}`;
      const count = { body: { onHand: 1, expectedOnHand: 2 } };
      const { body, ...answer } = await wire.test.backOffice.request("PUT", path, count);
      return [{ ...answer, document: body }, path];
    },
    ...peopleProblems(() => wire.test),
    "token-not-rotatable": async () => {
      const { id } = (await wire.test.backOffice.post("/api/tokens", { name: "T", role: "support" })).body;
      await wire.test.backOffice.post(`/api/tokens/${id}/revoke`);
      const path = `/api/tokens/${id}/rotate`;
      const { body, ...answer } = await wire.test.backOffice.post(path, {});
      return [{ ...answer, document: body }, path];
    },
    "key-not-rotatable": async () => {
      const keys = `/api/connections/${wire.partner.connectionId}/keys`;
      const { id } = (await wire.test.backOffice.post(keys, {})).body;
      await wire.test.backOffice.post(`/api/keys/${id}/revoke`);
      const path = `/api/keys/${id}/rotate`;
      const { body, ...answer } = await wire.test.backOffice.post(path, {});
      return [{ ...answer, document: body }, path];
    },
    "limit-reached": async () => {
      const full = await createPartner(wire.test);
      for (let count = 0; count < CONNECTION_LIMITS.endpoints.standard; count += 1)
        await createEndpoint(full);
      const headers = { ...wire.authorizedJson(), authorization: `Bearer ${full.key}` };
      return [await wire.send(`POST ${ENDPOINTS}`, headers, JSON.stringify(anEndpoint())), ENDPOINTS];
    },
    "payload-too-large": async () => [
      await wire.send("POST /v1/orders", wire.authorizedJson(), " ".repeat(BODY_LIMIT_BYTES + 1)),
      "/v1/orders",
    ],
    "unsupported-media-type": async () => [
      await wire.send("POST /v1/orders", { ...wire.authorized(), "content-type": "text/plain" }, "{}"),
      "/v1/orders",
    ],
    "validation-failed": async () => [await wire.postOrder({}), "/v1/orders"],
    "idempotency-key-reused": async () => {
      const headers = { "idempotency-key": crypto.randomUUID() };
      await wire.postOrder(anOrder(wire.partner), headers);
      return [await wire.postOrder(anOrder(wire.partner), headers), "/v1/orders"];
    },
    "rate-limited": () => provokeRateLimit(),
    "internal-error": () => provokeInternalError(),
    unavailable: () => provokeUnavailable(),
  };

  const STATUSES: Record<ProblemCode, number> = {
    "malformed-request": 400,
    "idempotency-key-missing": 400,
    forbidden: 403,
    unauthorized: 401,
    "sign-in-failed": 401,
    "recent-authentication-required": 403,
    "scope-required": 403,
    "token-expires": 403,
    "not-found": 404,
    "order-not-cancelable": 409,
    "order-already-exists": 409,
    "transition-refused": 409,
    "endpoint-paused": 409,
    "certification-not-possible": 409,
    "certification-required": 409,
    "stock-changed": 409,
    "version-changed": 409,
    "person-exists": 409,
    "person-state": 409,
    "person-changed": 409,
    "token-not-rotatable": 409,
    "key-not-rotatable": 409,
    "limit-reached": 409,
    "payload-too-large": 413,
    "unsupported-media-type": 415,
    "validation-failed": 422,
    "idempotency-key-reused": 422,
    "rate-limited": 429,
    "internal-error": 500,
    unavailable: 503,
  };

  /** Members beyond the six that every problem has. */
  const MEMBERS: Partial<Record<ProblemCode, string[]>> = {
    "sign-in-failed": ["reason"],
    "order-not-cancelable": ["orderStatus"],
    "order-already-exists": ["externalOrderId", "orderId"],
    "idempotency-key-reused": ["differences", "orderId"],
    "payload-too-large": ["maxBytes"],
    "transition-refused": ["orderStatus", "rule", "transition"],
    "certification-not-possible": ["certificationId", "reason"],
    "certification-required": ["certificationMaxAgeDays", "certifiedAt"],
    "stock-changed": ["onHand"],
    "version-changed": ["version"],
    "person-state": ["state"],
    "token-not-rotatable": ["reason", "replacedBy"],
    "key-not-rotatable": ["reason", "replacedBy"],
    "limit-reached": ["limit", "maximum"],
    "scope-required": ["scope"],
    "token-expires": ["replacedBy"],
    "validation-failed": ["errors"],
  };

  const codes = Object.keys(PROBLEMS) as ProblemCode[]; // The table's own keys.

  it.each(codes)("%s is returned as the table says, and reveals nothing internal", async (code) => {
    const [answer, instance] = await PROVOCATIONS[code]();
    expectRejection(answer, code, instance);
    expect(answer.status).toBe(STATUSES[code]);
    const base = ["code", "detail", "instance", "status", "title", "type"];
    expect(Object.keys(answer.document).sort()).toEqual([...base, ...(MEMBERS[code] ?? [])].sort());
  });

  it("has the titles that the specification gives", () => {
    expect(PROBLEMS["not-found"].title).toBe("Resource not found");
    expect(PROBLEMS["order-not-cancelable"].title).toBe("Order cannot be canceled");
  });

  it.each(codes)("%s has a page where its type leads to", async (code) => {
    const backOffice = createBackOffice(
      wire.test.context,
      operatorAuthentication(OPERATOR_TOKEN),
      createMetrics(),
    );
    const page = await backOffice.inject(`/errors/${code}`);
    expect(page.statusCode).toBe(200);
    expect(page.headers["content-type"]).toBe("text/html; charset=utf-8");
    for (const text of [code, String(PROBLEMS[code].status), PROBLEMS[code].title])
      expect(page.body).toContain(text);
  });

  const ofPartners = Object.keys(PARTNER.components?.examples ?? {});
  it.each([
    ["docs/problems.md", codes.filter((code) => ofPartners.includes(code))],
    ["docs/back-office-problems.md", codes.filter((code) => !ofPartners.includes(code))],
  ])("is in %s if its readers can get it, and the page has no others", (page, own) => {
    const [text = ""] = readFileSync(page, "utf8").split("## Rules of the back office");
    const rows = text.matchAll(/^\| *`?([a-z][a-z-]*)`? *\| *(\d{3}) *\| *([^|]+?) *\|/gm);
    const documented = [...rows].map(([, code, status, title]) => ({ code, status: Number(status), title }));
    const inCode = own.map((code) => ({ code, status: PROBLEMS[code].status, title: PROBLEMS[code].title }));
    expect(documented).toEqual(inCode);
  });

  it("has its rules in the two pages, which have no others", () => {
    const pages = ["docs/problems.md", "docs/back-office-problems.md"];
    const texts = pages.map((page) => readFileSync(page, "utf8").split("## Rules of the back office")[0]);
    const rows = texts.join("\n").matchAll(/^\| `([a-z]+(?:_[a-z]+)+)` \|/gm);
    const returned = TRANSITION_RULES.filter((rule) => rule !== "not_cancelable"); // It has a code of its own.
    expect([...rows].map(([, rule]) => rule).sort()).toEqual([...returned].sort());
  });

  it("has no page for a code outside the table", async () => {
    const answer = await wire.test.backOffice.get("/errors/no-such-code");
    expect(answer.status).toBe(404);
    expect(answer.body.type).toBe(`${ERRORS_BASE_URL}/not-found`);
  });

  async function provokeRateLimit(): Promise<[Rejected, string]> {
    const config = { ...wire.test.context.config, rateLimitPerMinute: 1 };
    const limited = createPartnerApi({ ...wire.test.context, config }, createMetrics());
    expect((await inject(limited, "/v1/me")).status).toBe(200);
    return [await inject(limited, "/v1/me"), "/v1/me"];
  }
});

describe("a problem document", () => {
  it("names the path as it was sent, without its query", async () => {
    expectRejection(await wire.send("GET /v1/orders/a%2Fb?key=secret"), "not-found", "/v1/orders/a%2Fb");
    expectRejection(await wire.send("GET /v1/products?limit=0"), "validation-failed", "/v1/products");
  });

  it("keeps a request id that the client sent, when it is short and harmless", async () => {
    const { headers } = await wire.send("GET /v1/nothing", { "x-request-id": "checkout-1.2_A" });
    expect(headers["x-request-id"]).toBe("checkout-1.2_A");
  });

  it.each(["", " ", "a b", "x".repeat(101), "<script>", '"quoted"', "a\tb", "\u00e9", "{}"])(
    "replaces the request id %j by one of its own",
    async (sent) => {
      const { headers } = await wire.send("GET /v1/nothing", { "x-request-id": sent });
      expect(headers["x-request-id"]).toMatch(/^[0-9a-f-]{36}$/);
    },
  );

  it("has another request id every time", async () => {
    const ids = await Promise.all(
      Array.from({ length: 20 }, async () => (await wire.send("GET /v1/nothing")).headers["x-request-id"]),
    );
    expect(new Set(ids).size).toBe(20);
  });

  it("writes any content of the path as JSON", async () => {
    const path = `/v1/"quoted"\\<b>&'{}`;
    expectRejection(await wire.send(`GET ${path}`), "not-found", path);
  });

  it("does not reveal with what the service is made", async () => {
    const { headers } = await wire.send("GET /v1/nothing");
    expect(headers["server"]).toBeUndefined();
    expect(headers["x-powered-by"]).toBeUndefined();
  });
});

describe("an error after which a change may have been made", () => {
  it.each([
    ["The request failed.", provokeInternalError],
    ["The service is temporarily unavailable.", provokeUnavailable],
  ])("says so, promises no safe retry, and tells nothing of its cause: %s", async (what, provoke) => {
    const [{ document }] = await provoke();
    expect(document.detail).toBe(
      `${what} A request that changes something may have done so: check before you retry one that is not safe to repeat.`,
    );
  });
});

/** The statement fails in a way that no operation foresees. */
async function provokeInternalError(): Promise<[Rejected, string]> {
  const broken = await startServiceForTest({ config: { errorsBaseUrl: ERRORS_BASE_URL } });
  const { client } = await createPartner(broken);
  await broken.db.runScript("alter table exposed_products rename to secret_table");
  const { status, headers, body } = await client.get("/v1/products");
  return [{ status, headers, document: body }, "/v1/products"];
}

/** Nothing listens at the database's address. */
async function provokeUnavailable(): Promise<[Rejected, string]> {
  const db = openDatabase({
    url: "postgres://user:password@127.0.0.1:1/nowhere",
    connectionsMax: 1,
    onIdleError: () => undefined,
  });
  const answer = await inject(createPartnerApi({ ...wire.test.context, db }, createMetrics()), "/v1/me");
  await db.close();
  return [answer, "/v1/me"];
}

async function inject(listener: Wire["app"], path: string): Promise<Rejected> {
  const { statusCode, headers, body } = await listener.inject({ url: path, headers: wire.authorized() });
  const texts = headers as Record<string, string>; // None of its fields is repeated.
  return { status: statusCode, headers: texts, document: JSON.parse(body) };
}
