import { Webhook } from "standardwebhooks";
import { describe, expect, it } from "vitest";
import { newSigningSecret } from "../../../src/webhooks/endpoints/secrets.ts";
import type { LoggedAttempt } from "../../../src/webhooks/log/delivery.ts";
import { attemptRequests, type RequestParts } from "../../../src/webhooks/log/delivery-log.ts";

const NOW = new Date();
const secret = newSigningSecret();
const body = '{"type":"order.created"}';
const earlier = (ms: number) => new Date(NOW.getTime() - ms);
const MINUTE = 60_000;

const anAttempt = (fields: Partial<LoggedAttempt> = {}): LoggedAttempt => ({
  ...{ deliveryId: "1", trigger: "schedule", startedAt: NOW, durationMs: 5 },
  ...{ id: "1", responseStatus: 500, responseBody: "no", error: "HTTP 500", fault: null },
  ...fields,
});
const parts: RequestParts = {
  ...{ eventId: "evt_1", body, erasedAt: null, leaseMs: MINUTE },
  secrets: {
    endpointCreatedAt: earlier(60 * MINUTE),
    secrets: [{ sealed: "sealed", createdAt: earlier(60 * MINUTE), expiresAt: null }],
  },
  open: () => secret,
};
const requestOf = (attempt: Partial<LoggedAttempt>, changed: Partial<RequestParts> = {}) =>
  attemptRequests([anAttempt(attempt)], { ...parts, ...changed })[0];
const signatureWith = (changed: Partial<RequestParts>) =>
  requestOf({}, changed)?.headers["webhook-signature"];

describe("the request of an attempt", () => {
  it("has the headers that were sent, and a signature that the public library accepts", () => {
    const request = requestOf({});
    expect(request).toEqual({
      headers: {
        "content-type": "application/json",
        "user-agent": expect.stringMatching(/^PartnerOrders\/\d/),
        "webhook-id": "evt_1",
        "webhook-timestamp": String(Math.floor(NOW.getTime() / 1_000)),
        "webhook-signature": expect.stringMatching(/^v1,/),
      },
      body,
    });
    const signature = String(request?.headers["webhook-signature"]);
    expect(new Webhook(secret).verify(body, { ...request?.headers, "webhook-signature": signature })).toEqual(
      JSON.parse(body),
    );
  });

  it("is null if it is not known whether anything was sent", () => {
    expect(requestOf({ durationMs: null })).toBeNull();
  });

  it("has neither body nor signature once the event is not kept", () => {
    const request = requestOf({}, { body: null });
    expect([request?.body, request?.headers["webhook-signature"]]).toEqual([null, null]);
    expect(request?.headers["webhook-id"]).toBe("evt_1");
  });

  it.each([
    ["after the attempt", 0, false],
    ["while a worker may still have had the earlier body", 2 * MINUTE - 1, false],
    ["before it", 2 * MINUTE, true],
  ])("signs what it shows: data erased %s", (_, ageMs, isSigned) => {
    expect(signatureWith({ erasedAt: earlier(ageMs) }) !== null).toBe(isSigned);
  });

  it("has no signature if a secret cannot be decrypted, or none is stored", () => {
    expect(signatureWith({ open: () => null })).toBeNull();
    expect(signatureWith({ secrets: { endpointCreatedAt: NOW, secrets: [] } })).toBeNull();
  });

  it("is shown of the newest attempts, up to 1 MiB of bodies, and always of the newest one", () => {
    const shown = (size: number) =>
      attemptRequests(
        Array.from({ length: 100 }, () => anAttempt()),
        { ...parts, body: "x".repeat(size) },
      );
    expect(shown(10_485).every((request) => request !== null)).toBe(true);
    expect(shown(10_486).map((request) => request !== null)).toEqual([false, ...Array(99).fill(true)]);
    expect(shown(2_000_000).map((request) => request !== null)).toEqual([...Array(99).fill(false), true]);
    expect(shown(0).every((request) => request !== null)).toBe(true);
  });
});
