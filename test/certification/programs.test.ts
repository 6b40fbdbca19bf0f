import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { certify } from "../../packages/cli/src/certify.ts";
import { PartnerOrders } from "../../packages/sdk/src/index.ts";
import { anOrder, createPartner, type Partner } from "../support/builders.ts";
import {
  CERTIFICATIONS,
  followRun,
  goodProgram,
  naiveProgram,
  type Program,
  resultsOf,
  seenOf,
} from "../support/certification.ts";
import { sendDue, startDispatcher, startReceiverForTest } from "../support/dispatch.ts";
import { runJob } from "../support/jobs.ts";
import { type PartnerListener, startPartnerListener } from "../support/partner-listener.ts";
import type { Receiver, ReceiverHandler } from "../support/receivers.ts";
import type { Answer } from "../support/test-service.ts";
import { createEndpoint } from "../support/webhooks.ts";

// What the report of a run says about programs of partners (docs/design/certification.md).

let wire: PartnerListener;
let partner: Partner;
beforeAll(async () => {
  wire = await startPartnerListener({ config: { webhookAllowPrivateNetworks: true, webhookTimeoutMs: 300 } });
});
beforeEach(async () => {
  partner = await createPartner(wire.test);
});
afterAll(() => wire.close());

/** Registers a program as a test endpoint, and begins a run for it. */
async function begin(
  program: Program,
  fields: object = {},
): Promise<{ run: Answer["body"]; receiver: Receiver }> {
  const receiver = await startReceiverForTest(program.handler);
  const endpoint = await createEndpoint(partner, { url: receiver.url, mode: "test", ...fields });
  program.secret = endpoint.secret;
  const { status, body } = await partner.client.post(CERTIFICATIONS, { endpointId: endpoint.id });
  expect(status, JSON.stringify(body)).toBe(201);
  return { run: body, receiver };
}

/** A program behind something that may respond itself. */
function before(
  program: Program,
  respond: (...received: Parameters<Program["handler"]>) => boolean,
): Program {
  return {
    orders: program.orders,
    handler: (request, response) => {
      if (!respond(request, response)) program.handler(request, response);
    },
    get secret() {
      return program.secret;
    },
    set secret(secret) {
      program.secret = secret;
    },
  };
}

/** A client whose creations lose their first response. */
const losingClient = (attemptsMax = 4) =>
  new PartnerOrders({
    baseUrl: wire.url,
    key: partner.key,
    pauseMsMax: 1,
    attemptsMax,
    fetch: (url, init) => {
      const headers = new Headers(init?.headers);
      headers.set("test-fault", "lost-response");
      return fetch(url, { ...init, headers });
    },
  });

const lostOrder = ({ lostCreation: { externalOrderId } }: Answer["body"], fields: object = {}) =>
  anOrder(partner, { externalOrderId, testMode: true, ...fields });

/** The results that the run of a program ends with. */
async function runToEnd(program: Program, fields?: object): Promise<Answer["body"]> {
  const { run } = await begin(program, fields);
  return followRun(wire.test, startDispatcher(wire.test), partner, run.id);
}

describe("a good program", () => {
  it("passes, and the connection is certified from then on", async () => {
    const { run, receiver } = await begin(goodProgram(wire.test));
    await losingClient().orders.create(lostOrder(run));
    const report = await followRun(wire.test, startDispatcher(wire.test), partner, run.id);
    expect(report, JSON.stringify(report.checks)).toMatchObject({ status: "passed", reason: null });
    expect(new Set(Object.values(resultsOf(report)))).toEqual(new Set(["passed"]));
    const { body: connection } = await wire.test.backOffice.get(`/api/connections/${partner.connectionId}`);
    expect(connection.certifiedAt).toBe(report.finishedAt);
    const orders = await partner.client.post("/v1/orders/search", { testMode: true, limit: 100 });
    for (const { externalOrderId } of orders.body.data)
      expect(externalOrderId).toMatch(RegExp(`^${run.id}-`));
    expect(receiver.requests.length).toBeLessThan(150);
  });
});

describe("a naive program", () => {
  it("fails, and the report names its weaknesses", async () => {
    const { run } = await begin(naiveProgram(55), { maxInFlight: 1 });
    await expect(losingClient(1).orders.create(lostOrder(run))).rejects.toThrow();
    await losingClient().orders.create(anOrder(partner, { testMode: true, externalOrderId: "again" }));
    const report = await followRun(wire.test, startDispatcher(wire.test), partner, run.id);
    expect(report.status).toBe("failed");
    expect(resultsOf(report)).toMatchObject({
      challenge: "passed",
      valid: "passed",
      "wrong-signature": "failed",
      "stale-timestamp": "failed",
      duplicate: "passed", // Its status codes are right; what it does is not.
      "two-at-once": "passed",
      reordered: "passed",
      "cut-body": "passed",
      state: "failed",
      throughput: "advice",
      "lost-creation": "failed",
    });
    expect(seenOf(report, "wrong-signature")).toContain("returned 200 to a request that it had to reject");
    expect(seenOf(report, "state")).toMatch(
      /acted 3 times on the order of duplicate \(test_\w+\), which has had 2 events/,
    );
    expect(seenOf(report, "state")).toMatch(
      /order of reordered \(test_\w+\) as IN_PROGRESS with sequence 2, and it is COMPLETED with sequence 3/,
    );
    expect(seenOf(report, "lost-creation")).toContain("second order, with the externalOrderId again");
    expect(seenOf(report, "throughput")).toMatch(/about 1\d events a second/);
  });
});

describe("a hostile receiver", () => {
  const HOSTILE: [name: string, handler: ReceiverHandler, seen: RegExp][] = [
    ["returns 200 to everything", (_, response) => response.end("OK"), /without the proof/],
    ["returns what it received", ({ body }, response) => response.end(body), /without the proof/],
    [
      "returns a signature that it has received",
      ({ headers }, response) => response.end(JSON.stringify({ challenge: headers["webhook-signature"] })),
      /not that of a signing secret/,
    ],
    [
      "redirects",
      (_, response) => response.writeHead(307, { location: "http://127.0.0.1:1/" }).end(),
      /HTTP 307/,
    ],
    ["never responds", () => undefined, /timeout/],
    [
      "sends without end",
      (_, response) => void response.writeHead(200).write("x".repeat(1_048_576)),
      /without the proof|response too large/,
    ],
    ["drops connections", (_, response) => void response.destroy(), /connection closed/],
  ];

  it.each(HOSTILE)("that %s gets the challenge and nothing else", async (_name, handler, seen) => {
    const { run, receiver } = await begin({ ...goodProgram(wire.test), handler });
    const report = await followRun(wire.test, startDispatcher(wire.test), partner, run.id);
    expect(report.status).toBe("failed");
    expect(resultsOf(report)).toMatchObject({
      challenge: "failed",
      valid: "skipped",
      "lost-creation": "skipped",
    });
    expect(seenOf(report, "challenge")).toMatch(seen);
    expect(receiver.requests.length).toBeLessThanOrEqual(9);
    const { body: orders } = await partner.client.post("/v1/orders/search", { testMode: true });
    expect(orders.data).toEqual([]);
  });

  it("that answers a question only after the log shows it is not believed", async () => {
    const asked = new Set<string>();
    const { run, receiver } = await begin(
      before(goodProgram(wire.test), ({ headers }, response) => {
        const id = String(headers["webhook-id"]);
        if (asked.has(id)) return false; // The right answer, at the second attempt.
        asked.add(id);
        response.writeHead(503).end();
        return true;
      }),
    );
    const dispatcher = startDispatcher(wire.test);
    await runJob(wire.test, "advance-certifications");
    await sendDue(dispatcher);
    wire.test.clock.advance({ seconds: 10 });
    await sendDue(dispatcher);
    expect(receiver.requests).toHaveLength(2); // The worker was busy with others until now.
    const report = await followRun(wire.test, dispatcher, partner, run.id);
    expect(asked.size).toBe(3);
    expect(resultsOf(report)).toMatchObject({ challenge: "failed", valid: "skipped" });
  });

  it("makes the command line end with 1, and say why", async () => {
    const { run: begun } = await begin({
      ...goodProgram(wire.test),
      handler: (_, response) => response.end("OK"),
    });
    await partner.client.post(`${CERTIFICATIONS}/${begun.id}/cancel`);
    wire.test.clock.advance({ minutes: 1 });
    const results: object[] = [];
    const output = { isJson: true, one: (item: object) => results.push(item), note: () => undefined };
    const session = { client: new PartnerOrders({ baseUrl: wire.url, key: partner.key }), output };
    const ended = certify(session as never, begun.endpointId, {}).catch((error) => error); // It uses nothing else.
    const dispatcher = startDispatcher(wire.test);
    await vi.waitFor(async () => {
      await runJob(wire.test, "advance-certifications");
      await sendDue(dispatcher);
      wire.test.clock.advance({ seconds: 1 });
      expect((await partner.client.get(CERTIFICATIONS)).body.data[0].status).toBe("failed");
    });
    expect(await ended).toMatchObject({
      exitCode: 1,
      message: expect.stringContaining("1 of 15 checks failed"),
    });
    expect(results).toMatchObject([{ status: "failed" }]);
  });

  it("that has proved itself and then fails ends the run in time, with a reason for each check", async () => {
    const program = goodProgram(wire.test);
    let pings = 0;
    const report = await runToEnd(
      before(program, (request, response) => {
        const isPing = request.body.includes('"type":"webhook.ping"');
        pings += isPing ? 1 : 0;
        if (isPing && pings === 1) return false;
        response.writeHead(500).end();
        return true;
      }),
    );
    expect(report.status).toBe("failed");
    expect(resultsOf(report)).toMatchObject({
      challenge: "passed",
      valid: "failed",
      state: "failed",
      throughput: "skipped",
    });
    expect(seenOf(report, "valid")).toMatch(/order\.created \(sequence 1\): HTTP 500/);
  });
});

it("a worker that ends in the middle leaves nothing half done: another one continues", async () => {
  const { run } = await begin(goodProgram(wire.test));
  const dispatcher = startDispatcher(wire.test);
  await runJob(wire.test, "advance-certifications");
  await sendDue(dispatcher);
  wire.test.clock.advance({ seconds: 1 });
  const { db } = wire.test.context;
  let calls = 0;
  const failing = {
    ...wire.test.context,
    db: {
      ...db,
      transaction: <T>(work: Parameters<typeof db.transaction<T>>[0]) =>
        db.transaction(async (tx) => {
          const done = await work(tx);
          calls += 1;
          if (calls === 2) throw new Error("The worker has ended."); // After all orders of the scenarios.
          return done;
        }),
    },
  };
  await expect(runJob({ context: failing }, "advance-certifications")).rejects.toThrow();
  expect(calls).toBe(2);
  expect((await partner.client.post("/v1/orders/search", { testMode: true })).body.data).toEqual([]);
  await Promise.all([1, 2, 3, 4].map(() => runJob(wire.test, "advance-certifications")));
  const { body: placed } = await partner.client.post("/v1/orders/search", { testMode: true });
  expect(placed.data, "each scenario once").toHaveLength(11);
  await losingClient().orders.create(lostOrder(run));
  expect(await followRun(wire.test, dispatcher, partner, run.id)).toMatchObject({ status: "passed" });
});
