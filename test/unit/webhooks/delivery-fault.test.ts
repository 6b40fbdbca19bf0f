import { describe, expect, it } from "vitest";
import { newSigningSecret, signingKey } from "../../../src/webhooks/endpoints/secrets.ts";
import {
  type ArmedFault,
  attemptRequest,
  BODY_MAX_BYTES,
  type DeliveryFault,
  FAULT_NAMES,
  type FaultName,
  faultOfAttempt,
  faultOfDelivery,
  followedAt,
  heldUntil,
  isFor,
} from "../../../src/webhooks/faults/delivery-fault.ts";

const NOW = new Date("2026-03-02T09:00:00.000Z");
const seconds = (count: number) => new Date(NOW.getTime() + 1_000 * count);

/** How many attempts of a delivery rehearse its fault. */
function rehearsed(fault: DeliveryFault): number {
  let count = 0;
  while (faultOfAttempt({ fault, attemptCount: count }) === fault.fault) count += 1;
  return count;
}

describe("the attempts that rehearse a fault", () => {
  it("are the first one, both of a duplicate, and those that are dropped", () => {
    const counts = Object.fromEntries(FAULT_NAMES.map((fault) => [fault, rehearsed({ fault })]));
    expect(counts).toEqual({
      ...Object.fromEntries(FAULT_NAMES.map((fault) => [fault, 1])),
      duplicate: 2,
    });
    expect(rehearsed({ fault: "dropped", attempts: 5 })).toBe(5);
  });

  it("are none without a fault", () => expect(faultOfAttempt({ fault: null, attemptCount: 0 })).toBeNull());
});

describe("what follows a rehearsed attempt", () => {
  const next = (fault: FaultName, isAccepted: boolean, attemptCount = 0) =>
    followedAt(fault, { fault: { fault }, attemptCount }, isAccepted, NOW);

  it.each(["wrong-signature", "stale-timestamp", "unknown-type", "cut-body", "dropped"] as const)(
    "is another attempt a second later, whatever the response was: %s",
    (fault) => {
      expect(next(fault, true)).toEqual(seconds(1));
      expect(next(fault, false)).toEqual(seconds(1));
    },
  );

  it("is the duplicate at once, if the first one was accepted, and nothing after it", () => {
    expect(next("duplicate", true)).toEqual(NOW);
    expect(next("duplicate", false)).toBeNull();
    expect(next("duplicate", true, 1)).toBeNull();
  });

  it("is what the usual rules say, for the others", () => {
    const usual = [
      "previous-secret",
      "unknown-field",
      "largest-body",
      "two-at-once",
      "delayed",
      "reordered",
      "outage",
    ] as const;
    for (const fault of usual) expect(next(fault, true), fault).toBeNull();
  });
});

const anArmed = (fields: Partial<ArmedFault> = {}): ArmedFault => ({
  ...{ id: "1", fault: "duplicate", endpointId: null, eventType: null, attempts: null, seconds: null },
  ...{ createdAt: NOW, eventId: null },
  ...fields,
});

describe("a fault is for a delivery", () => {
  const delivery = { endpointId: "one", eventType: "order.onHold" };
  it.each<[string, Partial<ArmedFault>, boolean]>([
    ["of any event", {}, true],
    ["of the type that it names", { eventType: "order.onHold" }, true],
    ["but not of another type", { eventType: "order.completed" }, false],
    ["to the endpoint that it names", { endpointId: "one" }, true],
    ["but not to another one", { endpointId: "two" }, false],
    ["but not after an event has had it", { eventId: "event" }, false],
    ["of each event of an outage", { fault: "outage", seconds: 1, eventId: "event" }, true],
  ])("%s", (_title, fields, expected) => {
    expect(isFor(anArmed(fields), delivery, NOW)).toBe(expected);
  });

  it("of no event after the end of an outage", () => {
    const outage = anArmed({ fault: "outage", seconds: 30 });
    expect(isFor(outage, delivery, seconds(29.999))).toBe(true);
    expect(isFor(outage, delivery, seconds(30))).toBe(false);
  });
});

describe("a delivery is held back", () => {
  const held = (fields: Partial<ArmedFault>, at: Date) =>
    heldUntil({ fault: faultOfDelivery(anArmed(fields), seconds(10)), attemptCount: 0 }, at);

  it.each(["delayed", "reordered"] as const)("from its event on: %s", (fault) => {
    expect(held({ fault, seconds: 20 }, seconds(29.999))).toEqual(seconds(30));
    expect(held({ fault, seconds: 20 }, seconds(30))).toBeNull();
  });

  it("until the end of an outage, which began before its event", () => {
    expect(held({ fault: "outage", seconds: 20 }, seconds(19.999))).toEqual(seconds(20));
    expect(held({ fault: "outage", seconds: 20 }, seconds(20))).toBeNull();
  });

  it("by no other fault", () => {
    expect(held({ fault: "dropped", attempts: 3 }, seconds(10))).toBeNull();
    expect(heldUntil({ fault: null, attemptCount: 0 }, NOW)).toBeNull();
  });
});

describe("the request of an attempt", () => {
  const keys = [newSigningSecret(), newSigningSecret()].map(signingKey);
  const body = '{"id":"evt_1","type":"order.onHold","data":{"note":"Grüße 🎁"}}';
  const attemptId = "0195f0d2-0000-7000-8000-000000000001";
  const parts = { attemptId, id: "evt_1", timestamp: NOW, body, keys };
  const usual = attemptRequest(null, parts);

  it.each(["cut-body", "duplicate", "two-at-once", "dropped", "delayed", "reordered", "outage"] as const)(
    "is as usual: %s",
    (fault) => expect(attemptRequest(fault, parts)).toEqual(usual),
  );

  it("is the same for the same attempt, so that the log can show it", () => {
    for (const fault of FAULT_NAMES)
      expect(attemptRequest(fault, parts), fault).toEqual(attemptRequest(fault, parts));
    const other = "0195f0d2-0000-7000-8000-000000000002";
    for (const fault of ["wrong-signature", "unknown-type"] as const)
      expect(attemptRequest(fault, { ...parts, attemptId: other })).not.toEqual(attemptRequest(fault, parts));
  });

  it("has as many signatures as usual, of which none is right", () => {
    const wrong = attemptRequest("wrong-signature", parts).headers["webhook-signature"].split(" ");
    const right = usual.headers["webhook-signature"].split(" ");
    expect(wrong).toHaveLength(2);
    for (const signature of wrong) expect(right).not.toContain(signature);
  });

  it("has the signature of the previous secret alone, and of the only one without it", () => {
    const [, previous] = usual.headers["webhook-signature"].split(" ");
    expect(attemptRequest("previous-secret", parts).headers["webhook-signature"]).toBe(previous);
    const alone = { ...parts, keys: keys.slice(0, 1) };
    expect(attemptRequest("previous-secret", alone)).toEqual(attemptRequest(null, alone));
  });

  it("is padded to exactly 1 MiB, and a larger body stays as it is otherwise", () => {
    expect(Buffer.byteLength(attemptRequest("largest-body", parts).body)).toBe(BODY_MAX_BYTES);
    const large = JSON.stringify({ type: "order.onHold", text: "é".repeat(600_000) });
    const sent = attemptRequest("largest-body", { ...parts, body: large }).body.toString();
    expect(JSON.parse(sent)).toEqual({ ...JSON.parse(large), padding: "" });
  });
});
