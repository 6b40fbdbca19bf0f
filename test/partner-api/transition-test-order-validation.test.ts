import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createPartner, type Partner, placeTestOrder } from "../support/builders.ts";
import { readOrder } from "../support/orders.ts";
import { applied, transition, transitionPath } from "../support/sandbox.ts";
import { dumpTables } from "../support/tables.ts";
import { type Answer, startTestService, type TestService } from "../support/test-service.ts";

let test: TestService;
let partner: Partner;
let id: string;
beforeAll(async () => {
  test = await startTestService();
  partner = await createPartner(test);
});
beforeEach(async () => {
  ({ id } = await placeTestOrder(partner));
});
afterAll(() => test.close());

/** Sends a request that must return 422, and checks that nothing was stored; returns the pointers of the errors. */
async function pointersOf(ask: () => Promise<Answer>): Promise<string[]> {
  const before = await dumpTables(test);
  const { status, body } = await ask();
  expect(status, JSON.stringify(body)).toBe(422);
  expect(body.type).toMatch(/\/validation-failed$/);
  expect(await dumpTables(test)).toEqual(before);
  return body.errors.map(({ pointer, parameter }: Record<string, string>) => pointer ?? parameter);
}

describe("POST /v1/test/orders/{orderId}/transitions: 422 validation-failed", () => {
  it.each([
    ["an unknown transition", { transition: "deliver" }, ["/transition"]],
    ["a transition in other letters", { transition: "Ship" }, ["/transition"]],
    ["the lifecycle's own names", { transition: "cancelByPartner" }, ["/transition"]],
    ["no transition", {}, ["/transition"]],
    ["a transition that is null", { transition: null }, ["/transition"]],
    ["a transition that is a list", { transition: ["ship"] }, ["/transition"]],
    ["reasons that are no list", { transition: "hold", reasons: "out_of_stock" }, ["/reasons"]],
    ["no reasons in the list", { transition: "hold", reasons: [] }, ["/reasons"]],
    ["an empty reason", { transition: "hold", reasons: ["a", ""] }, ["/reasons/1"]],
    ["a reason that is a number", { transition: "hold", reasons: [1] }, ["/reasons/0"]],
    ["a reason with a NUL", { transition: "hold", reasons: ["\u0000"] }, ["/reasons/0"]],
    ["a reason of 101 characters", { transition: "hold", reasons: ["x".repeat(101)] }, ["/reasons/0"]],
    ["21 reasons", { transition: "hold", reasons: Array(21).fill("x") }, ["/reasons"]],
    ["lineIds that are no list", { transition: "ship", lineIds: "line_1" }, ["/lineIds"]],
    ["a line id that is a number", { transition: "ship", lineIds: [1] }, ["/lineIds/0"]],
    ["101 line ids", { transition: "ship", lineIds: Array(101).fill("x") }, ["/lineIds"]],
    [
      "a carrier and a number that are no texts",
      { transition: "ship", carrier: 1, trackingNumber: ["1"] },
      ["/carrier", "/trackingNumber"],
    ],
    [
      "a tracking address that runs",
      { transition: "ship", trackingUrl: "javascript:alert(1)" },
      ["/trackingUrl"],
    ],
    [
      "a tracking address of 2001 characters",
      { transition: "ship", trackingUrl: `https://a.example/${"x".repeat(1_983)}` },
      ["/trackingUrl"],
    ],
    ["a shipment id that is a list", { transition: "returnShipment", shipmentId: [] }, ["/shipmentId"]],
    ["all errors at once", { transition: "x", reasons: [""] }, ["/transition", "/reasons/0"]],
    ["a list", [], [""]],
    ["a text", "ship", [""]],
    ["null", null, [""]],
  ])("%s", async (_title, body, pointers) => {
    const found = await pointersOf(() => partner.client.post(transitionPath(id), body));
    expect(found.sort()).toEqual(pointers.sort());
  });

  it("20 reasons of 100 characters are not too many", async () => {
    const reasons = Array.from({ length: 20 }, (_, index) => String(index).padStart(100, "x"));
    expect(await applied(partner, id, "hold", { reasons })).toMatchObject({ onHoldReasons: reasons });
  });

  it("a carrier and a number of 255 characters and an address of 2000 are not too long", async () => {
    const tracking = { carrier: "c".repeat(255), trackingNumber: "n".repeat(255) };
    const trackingUrl = `https://a.example/${"x".repeat(1_982)}`;
    const { shipments } = await applied(partner, id, "ship", { ...tracking, trackingUrl });
    expect(shipments).toMatchObject([{ ...tracking, trackingUrl }]);
  });

  it("names every line id that is not a line of this order", async () => {
    const own = (await readOrder(partner, id)).lines[0].id;
    const foreign = (await readOrder(partner, (await placeTestOrder(partner)).id)).lines[0].id;
    const lineIds = [own, foreign, "x", "", own.replace("line_", "shp_"), own.slice(5), id];
    const found = await pointersOf(() => transition(partner, id, "ship", { lineIds }));
    expect(found).toEqual([
      "/lineIds/1",
      "/lineIds/2",
      "/lineIds/3",
      "/lineIds/4",
      "/lineIds/5",
      "/lineIds/6",
    ]);
  });

  it("ships nothing when one of several lines is unknown", async () => {
    const own = (await readOrder(partner, id)).lines[0].id;
    const lineIds = [own, "line_01hzzzzzzzzzzzzzzzzzzzzzzz"];
    expect(await pointersOf(() => transition(partner, id, "ship", { lineIds }))).toEqual(["/lineIds/1"]);
    expect((await readOrder(partner, id)).shipments).toEqual([]);
  });

  it("names a shipment id that is not a shipment of this order", async () => {
    await applied(partner, id, "ship");
    const other = (await placeTestOrder(partner)).id;
    const { shipments, lines } = await applied(partner, other, "ship");
    for (const shipmentId of [shipments[0].id, lines[0].id, "shp_01hzzzzzzzzzzzzzzzzzzzzzzz", "", "x"]) {
      const found = await pointersOf(() => transition(partner, id, "returnShipment", { shipmentId }));
      expect(found, shipmentId).toEqual(["/shipmentId"]);
    }
  });

  it("an orderId of 201 characters; one of 200 is only unknown", async () => {
    const found = await pointersOf(() => transition(partner, "x".repeat(201), "ship"));
    expect(found).toEqual(["orderId"]);
    expect((await transition(partner, "x".repeat(200), "ship")).status).toBe(404);
  });
});

describe("POST /v1/test/orders/{orderId}/transitions: bodies that cannot be read", () => {
  it.each([
    ["400 malformed-request: not JSON", '{"transition":', "application/json", 400, "malformed-request"],
    ["400 malformed-request: empty", "", "application/json", 400, "malformed-request"],
    ["415: not declared as JSON", '{"transition":"ship"}', "text/plain", 415, "unsupported-media-type"],
    [
      "413: larger than 256 KiB",
      JSON.stringify({ transition: "ship", unknown: "x".repeat(256 * 1024) }),
      "application/json",
      413,
      "payload-too-large",
    ],
  ])("%s", async (_title, rawBody, contentType, status, code) => {
    const before = await dumpTables(test);
    const options = { rawBody, headers: { "content-type": contentType } };
    const answer = await partner.client.request("POST", transitionPath(id), options);
    expect(answer.status).toBe(status);
    expect(answer.body.type).toMatch(new RegExp(`/${code}$`));
    expect(await dumpTables(test)).toEqual(before);
  });

  it("400 malformed-request: none at all", async () => {
    const answer = await partner.client.post(transitionPath(id));
    expect(answer.status).toBe(400);
    expect(answer.body.type).toMatch(/\/malformed-request$/);
  });

  it.each(["GET", "PUT", "DELETE", "PATCH"])("404 not-found: %s is no route", async (method) => {
    expect((await partner.client.request(method, transitionPath(id))).status).toBe(404);
  });
});
