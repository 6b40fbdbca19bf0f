import { describe, expect, it, onTestFinished } from "vitest";
import { metricsOf, resourcesOf, spansOf } from "../../support/otlp.ts";
import { accept, type ReceiverHandler, startReceiver } from "../../support/receivers.ts";
import { eventually, makePartner, send, startService } from "../../support/running-service.ts";

/** Reports each module of OpenTelemetry that the process loads, except its API, which prom-client loads. */
const REPORT_LOADED = `--import data:text/javascript,${encodeURIComponent(`
  import { registerHooks } from "node:module";
  registerHooks({ load(url, context, next) {
    if (url.includes("@opentelemetry") && !url.includes("@opentelemetry/api/")) process.stderr.write("loaded " + url + "\\n");
    return next(url, context);
  } });
`)}`;

async function startCollector(handler?: ReceiverHandler) {
  const collector = await startReceiver(handler);
  onTestFinished(() => collector.close());
  return collector;
}

describe("OpenTelemetry", () => {
  it("receives spans of requests, groups, statements, batches and attempts, and the metrics of /metrics", async () => {
    const [collector, partner] = [await startCollector(), await startCollector()];
    const { main, api, backOffice } = await startService({
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
      OTEL_EXPORTER_OTLP_HEADERS: "x-collector-key=for-the-collector",
      OTEL_SERVICE_NAME: "orders-of-the-test",
      OTEL_RESOURCE_ATTRIBUTES: "deployment.environment.name=test,service.name=loses",
      WEBHOOK_ALLOW_PRIVATE_NETWORKS: "true",
      ACCEPTANCE_WINDOW_SECONDS: "1",
    });
    const { key, anOrder, connectionId } = await makePartner(backOffice);
    const webhooks = partner.url.replace("/webhooks", "/secret-in-the-path?token=secret-in-the-query");
    const { status } = await send(`${api}/v1/webhook-endpoints`, key, { url: webhooks });
    expect(status).toBe(201);
    const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    const created = await fetch(`${api}/v1/orders`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json", traceparent },
      body: JSON.stringify(anOrder("external-id-of-the-partner")),
    });
    expect(created.status).toBe(201);
    expect((await send(`${api}/v1/orders/external-id-of-the-partner?q=1`, key)).status).toBe(200);
    expect((await send(`${api}/v1/nothing/external-id-of-the-partner`, key)).status).toBe(404);
    await partner.waitFor(1);
    expect(partner.requests[0]?.headers["traceparent"], "partners receive no trace context").toBeUndefined();
    await eventually(async () => {
      const order = await send(`${api}/v1/orders/external-id-of-the-partner`, key);
      expect(order.body.status).toBe("ACCEPTED");
      const metrics = await (await fetch(`${backOffice}/metrics`)).text();
      expect(metrics).toMatch(/job_items_total\{job="accept-orders"\} 1/);
    });
    main.child.kill("SIGTERM");
    expect(await main.exited()).toEqual({ code: 0, signal: null });

    const spans = spansOf(collector.requests);
    const named = (name: string) => spans.filter((span) => span.name === name);
    const [creation] = named("POST /v1/orders");
    expect(creation).toMatchObject({
      kind: 2, // Server.
      // Beside it are links to groups that another request has begun.
      links: expect.arrayContaining([
        expect.objectContaining({ traceId: "0af7651916cd43dd8448eb211c80319c", spanId: "b7ad6b7169203331" }),
      ]),
      attributes: {
        "http.request.method": "POST",
        "http.route": "/v1/orders",
        "http.response.status_code": 201,
        "partner_orders.connection.id": connectionId,
        "partner_orders.request.id": created.headers.get("x-request-id"),
      },
    });
    expect(creation?.traceId, "a partner does not choose the id of a trace").not.toMatch(/^0af7/);
    expect(creation?.parentSpanId).toBeFalsy();
    const inTrace = spans.filter(({ traceId }) => traceId === creation?.traceId);
    // The first request of a second looks the key up (docs/design/isolation-and-limits.md, "Known keys").
    expect(named("find keys")).not.toEqual([]);
    const group = inTrace.find(({ name }) => name === "place orders");
    expect(group?.parentSpanId).toBe(creation?.spanId);
    const statements = inTrace.filter(({ parentSpanId }) => parentSpanId === group?.spanId);
    expect(statements.length).toBeGreaterThan(0);
    for (const { kind, attributes } of statements)
      expect([kind, attributes["db.system.name"]]).toEqual([3, "postgresql"]); // Client.

    expect(named("GET").at(0)?.attributes).toMatchObject({ "error.type": "not-found" });
    expect(named("GET").at(0)?.attributes["http.route"]).toBeUndefined();
    expect(named("POST webhook")).toContainEqual(
      expect.objectContaining({
        kind: 3,
        attributes: expect.objectContaining({
          "server.address": "127.0.0.1",
          "http.response.status_code": 200,
          "partner_orders.delivery.outcome": "succeeded",
          "partner_orders.connection.id": connectionId,
        }),
      }),
    );
    expect(named("accept-orders")).toContainEqual(
      expect.objectContaining({ attributes: { "partner_orders.batch.items": 1 } }),
    );
    const batches = spans.filter(({ attributes }) => "partner_orders.batch.items" in attributes);
    for (const batch of batches)
      expect(batch.attributes["partner_orders.batch.items"], "a batch without work leaves no span").not.toBe(
        0,
      );
    expect(
      named("list-stock-changes").filter(({ traceId }) => !batches.some((b) => b.traceId === traceId)),
    ).toEqual([]);
    for (const name of ["GET /metrics", "GET /livez"]) expect(named(name)).toEqual([]);
    const text = JSON.stringify(spans);
    for (const secret of [key, "secret-in", "external-id-of-the-partner", "Lovelace", "q=1"])
      expect(text).not.toContain(secret);

    const metrics = metricsOf(collector.requests);
    expect(
      metrics.get("partner_orders_database_metrics_up")?.points[0]?.asDouble,
      "before it is closed",
    ).toBe(1);
    const jobs = metrics.get("partner_orders_job_items_total");
    expect(jobs?.kind).toBe("sum");
    expect(jobs?.points).toContainEqual(
      expect.objectContaining({ attributes: { job: "accept-orders" }, asDouble: 1 }),
    );
    const durations = metrics.get("http_request_duration_seconds");
    const creations = durations?.points.find(
      ({ attributes }) => attributes["route"] === "/v1/orders" && attributes["status"] === "201",
    );
    expect(Number(creations?.count)).toBe(1);
    expect(creations?.bucketCounts?.reduce((sum, count) => sum + Number(count), 0)).toBe(1);

    for (const resource of resourcesOf(collector.requests))
      expect(resource).toMatchObject({
        "service.name": "orders-of-the-test",
        "deployment.environment.name": "test",
        "service.instance.id": expect.any(String),
      });
    for (const { headers } of collector.requests)
      expect(headers["x-collector-key"]).toBe("for-the-collector");
  });

  it("that does not respond delays neither requests nor the stop, and is named in the log", async () => {
    const collector = await startCollector(() => undefined);
    const { main, api } = await startService({
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_BSP_SCHEDULE_DELAY: "1",
      OTEL_BSP_MAX_QUEUE_SIZE: "2",
      OTEL_METRICS_EXPORTER: "none",
      OTEL_TRACES_SAMPLER: "parentbased_traceidratio",
      OTEL_TRACES_SAMPLER_ARG: "1",
    });
    // More requests than the queue has room for.
    for (let i = 0; i < 20; i += 1) expect((await send(`${api}/v1/me`, "no key")).status).toBe(401);
    const [request] = await collector.waitFor(1);
    expect([request?.path, request?.headers["content-type"]]).toEqual([
      "/webhooks/v1/traces",
      "application/x-protobuf",
    ]);
    expect(request?.body).toContain("partner-orders"); // Of the start or of a request: only the first batch is sent.
    main.child.kill("SIGTERM");
    expect(await main.exited()).toEqual({ code: 0, signal: null });
    expect(main.log().map(({ msg }) => msg)).toContain("last traces and metrics not exported");
    expect(await main.logged("stopped")).toMatchObject({ level: "info" });
  });

  it("is not loaded without an address, or if it is disabled", async () => {
    const collector = await startCollector(accept);
    const disabled = {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_SDK_DISABLED: "true",
      NODE_OPTIONS: REPORT_LOADED,
    };
    const { main, api } = await startService(disabled);
    expect((await send(`${api}/v1/me`, "no key")).status).toBe(401);
    main.child.kill("SIGTERM");
    expect(await main.exited()).toEqual({ code: 0, signal: null });
    expect(main.errors()).toBe("");
    expect(collector.connectionCount()).toBe(0);
  });
});
