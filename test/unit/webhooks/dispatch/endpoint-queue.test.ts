import { describe, expect, it } from "vitest";
import type { Clock } from "../../../../src/platform/time.ts";
import type { ClaimSize } from "../../../../src/webhooks/delivery/claim-sql.ts";
import type { DeliveryAttempt, LeasedEndpoint } from "../../../../src/webhooks/delivery/claimed-delivery.ts";
import { EndpointQueue } from "../../../../src/webhooks/delivery/endpoint-queue.ts";
import { urlPartsOf } from "../../../../src/webhooks/delivery/send-delivery.ts";
import { anEndpoint, claims, NOW } from "../../../support/claims.ts";

const at = (now: Date): Clock => ({ now: () => now });
const RETRY_MS = [5_000, 30_000, 120_000];
const open = (): string => "whsec_c2VjcmV0";

const attempt = (responseStatus: number): DeliveryAttempt => ({
  startedAt: NOW,
  durationMs: 1,
  responseStatus,
  responseBody: "",
  error: responseStatus === 200 ? null : `HTTP ${responseStatus}`,
  fault: null,
});
const ok = attempt(200);
const seconds = (count: number): Date => new Date(NOW.getTime() + count * 1_000);

/** What the queue of a leased endpoint claims next. */
function claimOf(queue: EndpointQueue, endpoint: LeasedEndpoint): ClaimSize {
  queue.update(endpoint, open);
  return queue.nextClaim();
}

/** A queue that has claimed as much as it asked for, or so much. */
function filledQueue(fields: Parameters<typeof anEndpoint>[0] = {}, count?: number): EndpointQueue {
  const endpoint = anEndpoint(fields);
  const queue = new EndpointQueue(endpoint);
  const { size } = claimOf(queue, endpoint);
  queue.add(claims(count ?? size));
  return queue;
}

/** Takes everything that may be sent now. */
function takeAll(queue: EndpointQueue): number {
  let count = 0;
  while (queue.next() !== null) count += 1;
  return count;
}

/** Fails one delivery after another. */
function fail(queue: EndpointQueue, count: number, status = 500): void {
  for (let failures = 0; failures < count; failures += 1) {
    queue.add(claims(1));
    queue.next();
    queue.sent(attempt(status), NOW, RETRY_MS);
    queue.stored();
  }
}

describe("what a queue sends", () => {
  it("is in the order of the claims, and never more at a time than the window allows", () => {
    const queue = filledQueue({}, 4);
    expect([queue.next()?.deliveryId, queue.next()?.deliveryId]).toEqual(["delivery 0", "delivery 1"]);
    expect(queue.next()).toBeNull();
    queue.sent(ok, NOW, RETRY_MS); // Two more may be in flight after a success.
    expect([queue.next()?.deliveryId, queue.next()?.deliveryId]).toEqual(["delivery 2", "delivery 3"]);
  });

  it("is never more at a time than the partner allows", () => {
    const queue = filledQueue({ inFlightMax: 3 }, 100);
    takeAll(queue);
    for (let count = 0; count < 20; count += 1) {
      queue.sent(ok, NOW, RETRY_MS);
      queue.stored();
      takeAll(queue);
    }
    expect(takeAll(queue)).toBe(0);
    for (let count = 0; count < 3; count += 1) queue.sent(null, NOW, RETRY_MS);
    expect(takeAll(queue)).toBe(3);
  });

  it("can be removed before it is sent", () => {
    const queue = filledQueue({}, 4);
    queue.next();
    expect(queue.removeWaiting().map(({ deliveryId }) => deliveryId)).toEqual([
      "delivery 1",
      "delivery 2",
      "delivery 3",
    ]);
    expect(queue.next()).toBeNull();
  });

  it("uses the settings and the keys of the last claim", () => {
    const queue = filledQueue();
    const { keys } = queue.destination;
    expect(keys).toHaveLength(1);
    const moved = anEndpoint({ url: "https://partner.example/new" });
    queue.update(moved, () => {
      throw new Error("An unchanged secret is not decrypted again.");
    });
    expect(queue.destination).toEqual({
      url: urlPartsOf(new URL("https://partner.example/new")),
      headers: {},
      keys,
    });
    queue.update(anEndpoint({ sealedSecrets: ["rotated", "sealed"] }), open);
    expect(queue.destination.keys).toHaveLength(2);
  });
});

describe("a further lease", () => {
  const stored = { ...anEndpoint().health, consecutiveFailures: 7, failingSince: NOW };

  it("keeps the health that the queue has followed while the endpoint was its own", () => {
    const queue = filledQueue();
    queue.update(anEndpoint({ leasedAt: seconds(14), leasedUntil: seconds(29), health: stored }), open);
    expect(queue.isFailing).toBe(false);
  });

  it("takes over the health that another worker may have stored since the lease expired", () => {
    const queue = filledQueue();
    queue.update(anEndpoint({ leasedAt: seconds(15), leasedUntil: seconds(30), health: stored }), open);
    expect(queue.isFailing).toBe(true);
    queue.next();
    expect(queue.sent(attempt(500), seconds(16), RETRY_MS)?.health).toMatchObject({
      consecutiveFailures: 8,
      failingSince: NOW,
    });
  });
});

describe("a claim for a queue", () => {
  it("requests the window and as much ahead, less what is already claimed", () => {
    const endpoint = anEndpoint();
    const queue = new EndpointQueue(endpoint);
    expect(claimOf(queue, endpoint)).toEqual({ endpointId: "endpoint", size: 4 });
    queue.add(claims(3));
    queue.next();
    expect(claimOf(queue, endpoint).size).toBe(1);
  });

  it("is made when half of the deliveries ahead are sent, if there may be more", () => {
    const queue = filledQueue({}, 4);
    expect(queue.runsLow(at(NOW))).toBe(false);
    takeAll(queue);
    expect(queue.runsLow(at(NOW))).toBe(false);
    queue.sent(ok, NOW, RETRY_MS);
    takeAll(queue);
    expect(queue.runsLow(at(NOW))).toBe(true);
  });

  it("is not made for it alone when the last one was not filled", () => {
    const queue = filledQueue({}, 3);
    takeAll(queue);
    queue.sent(ok, NOW, RETRY_MS);
    takeAll(queue);
    expect([queue.hasMore, queue.runsLow(at(NOW))]).toEqual([false, false]);
    expect([queue.joinsClaim(at(NOW), true), queue.joinsClaim(at(NOW), false)]).toEqual([true, false]);
  });

  it("includes it without a signal when the last one was filled", () => {
    const queue = filledQueue();
    takeAll(queue);
    queue.sent(ok, NOW, RETRY_MS);
    takeAll(queue);
    expect(queue.joinsClaim(at(NOW), false)).toBe(true);
  });

  it("leaves it out while enough is waiting, and then there may be more", () => {
    const queue = filledQueue({}, 3);
    expect([queue.joinsClaim(at(NOW), true), queue.hasMore]).toEqual([false, true]);
  });

  it("needs no lease before it for five seconds, unless the settings changed or the lease ends soon", () => {
    const endpoint = anEndpoint({ leasedAt: NOW, leasedUntil: seconds(15) });
    const queue = new EndpointQueue(endpoint);
    expect(queue.isHeld(NOW)).toBe(false); // Its secrets are not known yet.
    queue.update(endpoint, open);
    expect([0, 4, 5].map((after) => queue.isHeld(seconds(after)))).toEqual([true, true, false]);
    queue.leasedUntil = seconds(7);
    expect([1, 2].map((after) => queue.isHeld(seconds(after)))).toEqual([true, false]);
    queue.forgetSettings();
    expect(queue.isHeld(NOW)).toBe(false);
  });

  it("claims further ahead if the queue was empty although more was due", () => {
    const queue = filledQueue({ inFlightMax: 2 });
    takeAll(queue);
    for (let count = 0; count < 2; count += 1) queue.sent(ok, NOW, RETRY_MS);
    takeAll(queue);
    for (let count = 0; count < 2; count += 1) queue.sent(ok, NOW, RETRY_MS);
    expect(queue.next()).toBeNull();
    expect(claimOf(queue, anEndpoint({ inFlightMax: 2 })).size).toBe(2 + 4);
  });
});

describe("the health of a queue's endpoint", () => {
  it("is stored with each failure, and with the success that ends them", () => {
    const queue = filledQueue();
    takeAll(queue);
    expect(queue.sent(attempt(500), NOW, RETRY_MS)).toMatchObject({
      endpoint: { merchantId: "merchant", connectionId: "connection", id: "endpoint" },
      health: { consecutiveFailures: 1, failingSince: NOW },
      pause: null,
    });
    expect(queue.isFailing).toBe(true);
    expect(queue.sent(ok, NOW, RETRY_MS)).toMatchObject({ health: { consecutiveFailures: 0 } });
    expect(queue.isFailing).toBe(false);
  });

  it("is not stored with a success that changes nothing, nor with an outcome without an attempt", () => {
    const queue = filledQueue();
    takeAll(queue);
    expect(queue.sent(ok, NOW, RETRY_MS)).toBeNull();
    expect(queue.sent(null, NOW, RETRY_MS)).toBeNull();
  });

  it("blocks the queue after ten failures until the backoff ends, and then lets one delivery through", () => {
    const queue = filledQueue({}, 0);
    fail(queue, 10);
    const end = new Date(NOW.getTime() + 5_000);
    expect([queue.isBlocked(at(NOW)), queue.isBlocked(at(end))]).toEqual([true, false]);
    expect([NOW, end].map((now) => queue.joinsClaim(at(now), true))).toEqual([false, true]);
    expect(claimOf(queue, anEndpoint()).size).toBe(1);
    queue.add(claims(1));
    expect(queue.joinsClaim(at(end), true)).toBe(false);
  });

  it("pauses the queue at a 410, and later outcomes change nothing", () => {
    const queue = filledQueue();
    takeAll(queue);
    expect(queue.sent(attempt(410), NOW, RETRY_MS)).toMatchObject({ pause: "gone", warning: 3 });
    expect([queue.isPaused, queue.isBlocked(at(NOW))]).toEqual([true, true]);
    expect(queue.sent(attempt(410), NOW, RETRY_MS)).toBeNull();
    expect(queue.sent(ok, NOW, RETRY_MS)).toBeNull();
  });
});

describe("the release of a queue", () => {
  it("waits until a second after the last request, but not of an endpoint that fails", () => {
    const queue = filledQueue({}, 1);
    expect(queue.lingers(at(NOW))).toBe(false); // Nothing was sent.
    queue.next();
    queue.sent(ok, NOW, RETRY_MS);
    expect([0, 999, 1_000].map((ms) => queue.lingers(at(new Date(NOW.getTime() + ms))))).toEqual([
      true,
      true,
      false,
    ]);
    fail(queue, 1);
    expect(queue.lingers(at(NOW))).toBe(false);
  });

  it("begins once, and only when the outcome of every claim is stored", () => {
    const queue = filledQueue({}, 1);
    expect(queue.beginRelease(at(NOW))).toBe(false);
    queue.next();
    queue.sent(ok, NOW, RETRY_MS);
    expect(queue.beginRelease(at(NOW))).toBe(false);
    queue.stored();
    expect(queue.beginRelease(at(NOW))).toBe(true);
    expect(queue.beginRelease(at(NOW))).toBe(false);
  });

  it("prevents claims for the queue, and records that one was made during the release", () => {
    const queue = filledQueue({}, 0);
    queue.beginRelease(at(NOW));
    expect(queue.hasMore).toBe(false);
    expect([queue.joinsClaim(at(NOW), true), queue.runsLow(at(NOW)), queue.hasMore]).toEqual([
      false,
      false,
      true,
    ]);
  });

  it("of a blocked endpoint requests no further claim: due deliveries are found when the backoff ends", () => {
    const queue = filledQueue({}, 0);
    fail(queue, 10);
    queue.joinsClaim(at(NOW), true);
    expect(queue.hasMore).toBe(true);
    queue.beginRelease(at(NOW));
    expect(queue.hasMore).toBe(false);
  });
});
