import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { createBackOffice } from "../../src/back-office/app.ts";
import { operatorAuthentication } from "../../src/back-office/authentication.ts";
import { createPartnerApi } from "../../src/partner-api/app.ts";
import type { Config } from "../../src/platform/config.ts";
import { openDatabase } from "../../src/platform/database/database.ts";
import { createLog } from "../../src/platform/log.ts";
import { createMetrics } from "../../src/platform/metrics.ts";
import { anOrder, createPartner, type Partner } from "../support/builders.ts";
import { listen, openConnection, requestText } from "../support/sockets.ts";
import { OPERATOR_TOKEN, startTestService, type TestService } from "../support/test-service.ts";

let test: TestService;
let partner: Partner;
let lines: Record<string, unknown>[] = [];
beforeAll(async () => {
  test = await startTestService();
  partner = await createPartner(test);
});
afterAll(() => test.close());
beforeEach(() => {
  lines = [];
});

const destination = {
  write(text: string) {
    for (const line of text.trimEnd().split("\n")) lines.push(JSON.parse(line));
  },
};
const requests = () => lines.filter(({ msg }) => msg === "request");
const logged = (count: number) =>
  vi.waitFor(
    () => {
      expect(requests()).toHaveLength(count);
      return requests();
    },
    { timeout: 20_000, interval: 20 },
  );

function contextWith(config: Partial<Config> = {}, level: Config["logLevel"] = "info") {
  const log = createLog(level, destination, new Set(["api"]));
  return { ...test.context, log, config: { ...test.context.config, ...config } };
}
const partnerApi = (config?: Partial<Config>, level?: Config["logLevel"]) =>
  createPartnerApi(contextWith(config, level), createMetrics());
const backOffice = () =>
  createBackOffice(contextWith(), operatorAuthentication(OPERATOR_TOKEN), createMetrics());
const authorized = () => ({ authorization: `Bearer ${partner.key}` });

describe("the request log", () => {
  it("has one line for a request, with what identifies it and nothing of what it contains", async () => {
    const api = partnerApi();
    const order = anOrder(partner);
    const headers = { ...authorized(), "x-request-id": "trace-1" };
    const sent = await api.inject({ method: "POST", url: "/v1/orders?secret=yes", headers, payload: order });
    expect(sent.statusCode).toBe(201);
    await api.inject({ url: `/v1/orders/${sent.json().id}`, headers: authorized() });
    await api.close();
    const { time, durationMs, pid, hostname, version, key, ...rest } = requests()[0] ?? {};
    expect(rest).toEqual({
      level: "info",
      msg: "request",
      service: "partner-orders",
      roles: ["api"],
      listener: "partner-api",
      reqId: "trace-1",
      method: "POST",
      route: "/v1/orders",
      status: 201,
      connection: { id: partner.connectionId },
    });
    expect(time).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect(durationMs).toBeGreaterThan(0);
    expect(key).toEqual({ id: expect.stringMatching(/^key_/) });
    expect([pid, hostname, version]).toEqual([process.pid, expect.any(String), expect.stringMatching(/^\d/)]);
    expect(requests()[1]).toMatchObject({ route: "/v1/orders/{orderId}", status: 200 });
    expect(JSON.stringify(lines)).not.toMatch(new RegExp(`secret|${sent.json().id}|${partner.key}`));
  });

  it("names the problem of a request that was rejected, and no caller that is not known", async () => {
    const api = partnerApi();
    await api.inject({ url: "/v1/me" });
    await api.inject({ url: "/v1/nothing-there", headers: authorized() });
    await api.inject({ method: "POST", url: "/v1/orders", headers: authorized(), payload: {} });
    await api.inject({ url: "/v1/%6De", headers: authorized() });
    await api.inject({ url: "/v1/orders/%E0%A4%A", headers: authorized() });
    await api.close();
    expect(requests().map(({ method, route, status, problem }) => [method, route, status, problem])).toEqual([
      ["GET", "/v1/me", 401, "unauthorized"],
      ["GET", null, 404, "not-found"],
      ["POST", "/v1/orders", 422, "validation-failed"],
      ["GET", "/v1/me", 404, "not-found"],
      ["GET", null, 404, "not-found"],
    ]);
    expect(requests().map(({ connection }) => connection !== undefined)).toEqual([
      false,
      false,
      true,
      false,
      false,
    ]);
  });

  it("names the operator in the back office, and leaves out what monitoring requests", async () => {
    const app = backOffice();
    for (const url of ["/livez", "/readyz", "/metrics"])
      expect((await app.inject({ url })).statusCode).toBe(200);
    await app.inject({
      url: "/api/merchants?q=Jane",
      headers: { authorization: `Bearer ${OPERATOR_TOKEN}` },
    });
    await app.inject({ url: "/errors/not-found" });
    await app.close();
    expect(requests().map(({ route, status, actor }) => [route, status, actor])).toEqual([
      ["/api/merchants", 200, { kind: "operator", name: "operator" }],
      ["/errors/not-found", 200, undefined],
    ]);
    expect(requests()[0]).toMatchObject({ listener: "back-office" });
  });

  it("has errors of the service whatever the sample is, and nothing else with a sample of 0", async () => {
    const unreachable = openDatabase({
      url: "postgres://nobody@127.0.0.1:1/nowhere",
      connectionsMax: 1,
      onIdleError: () => undefined,
    });
    const context = { ...contextWith({ requestLogSample: 0 }), db: unreachable };
    const api = createPartnerApi(context, createMetrics());
    await api.inject({ url: "/v1/me" });
    await api.inject({ url: "/v1/me", headers: authorized() });
    await api.close();
    await unreachable.close();
    expect(requests().map(({ status, problem }) => [status, problem])).toEqual([[503, "unavailable"]]);
  });

  it("has about the part of the requests that the sample sets", async () => {
    const api = partnerApi({ requestLogSample: 0.5 });
    for (let count = 0; count < 200; count += 1) await api.inject({ url: "/v1/nothing" });
    await api.close();
    expect(requests().length).toBeGreaterThan(40);
    expect(requests().length).toBeLessThan(160);
  });

  it("has no line of a request above level info", async () => {
    const api = partnerApi({}, "warn");
    await api.inject({ url: "/v1/me" });
    await api.close();
    expect(requests()).toEqual([]);
  });

  it("has a line for input that is not a request, with the request id of its response", async () => {
    const api = partnerApi();
    const url = await listen(api);
    const connection = await openConnection(url);
    connection.send("GARBAGE\r\n\r\n");
    const answer = await connection.answer();
    await connection.closed();
    const [line] = await logged(1);
    expect(line).toMatchObject({ method: null, route: null, status: 400, problem: "malformed-request" });
    expect(line?.["reqId"]).toBe(answer.headers["x-request-id"]);
    await api.close();
  });

  it("has a line without a status for a client that hung up before its response", async () => {
    const api = partnerApi();
    const url = await listen(api);
    const connection = await openConnection(url);
    const head = { ...authorized(), "content-type": "application/json", "content-length": "100" };
    connection.send(requestText("POST /v1/orders HTTP/1.1", { ...head, expect: "100-continue" }));
    await new Promise((resolve) => connection.socket.once("data", resolve));
    connection.socket.resetAndDestroy();
    const [line] = await logged(1);
    expect(line).toMatchObject({ method: "POST", route: "/v1/orders", status: null, durationMs: null });
    await api.close();
    expect(requests()).toHaveLength(1);
  });

  it("loses no line when more are written than wait together", async () => {
    const api = partnerApi();
    const sent = Array.from({ length: 300 }, (_, count) => `many-${count}`);
    for (const id of sent) await api.inject({ url: "/v1/nothing", headers: { "x-request-id": id } });
    await api.close();
    expect(requests().map(({ reqId }) => reqId)).toEqual(sent);
  });
});
