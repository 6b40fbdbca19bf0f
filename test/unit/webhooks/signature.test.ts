import { Webhook } from "standardwebhooks";
import { describe, expect, it } from "vitest";
import { signedHeaders } from "../../../src/webhooks/delivery/exchange.ts";
import { newSigningSecret, signingKey } from "../../../src/webhooks/endpoints/secrets.ts";

const body = '{"type":"order.created","data":{"note":"Grüße 🎁"}}';
const now = () => new Date();

describe("a new signing secret", () => {
  it("is whsec_ and 32 bytes in base64, and another one every time", () => {
    const secrets = Array.from({ length: 100 }, newSigningSecret);
    expect(new Set(secrets).size).toBe(100);
    for (const secret of secrets) {
      expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
      expect(Buffer.from(secret.slice(6), "base64")).toHaveLength(32);
    }
  });
});

describe("the headers of an attempt", () => {
  it("are accepted by the public library", () => {
    const secret = newSigningSecret();
    const headers = signedHeaders({ id: "evt_1", timestamp: now(), body, keys: [signingKey(secret)] });
    expect(new Webhook(secret).verify(body, headers)).toEqual(JSON.parse(body));
  });

  it("equal those of the public library, to the byte", () => {
    const secret = newSigningSecret();
    const timestamp = new Date("2026-03-01T12:00:00.999Z");
    expect(signedHeaders({ id: "evt_1", timestamp, body, keys: [signingKey(secret)] })).toEqual({
      "webhook-id": "evt_1",
      "webhook-timestamp": "1772366400",
      "webhook-signature": new Webhook(secret).sign("evt_1", timestamp, body),
    });
  });

  it("verify with each of the secrets during a rotation, the newest first, and with no other", () => {
    const secrets = [newSigningSecret(), newSigningSecret(), newSigningSecret()];
    const timestamp = now();
    const headers = signedHeaders({ id: "evt_1", timestamp, body, keys: secrets.map(signingKey) });
    expect(headers["webhook-signature"]).toBe(
      secrets.map((secret) => new Webhook(secret).sign("evt_1", timestamp, body)).join(" "),
    );
    for (const secret of secrets) expect(() => new Webhook(secret).verify(body, headers)).not.toThrow();
    expect(() => new Webhook(newSigningSecret()).verify(body, headers)).toThrow();
  });

  it("do not verify after a change of the body, the id or the time", () => {
    const secret = newSigningSecret();
    const headers = signedHeaders({ id: "evt_1", timestamp: now(), body, keys: [signingKey(secret)] });
    const later = String(Number(headers["webhook-timestamp"]) + 1);
    const webhook = new Webhook(secret);
    expect(() => webhook.verify(body.replace("created", "creates"), headers)).toThrow();
    expect(() => webhook.verify(`${body} `, headers)).toThrow();
    expect(() => webhook.verify(body, { ...headers, "webhook-id": "evt_2" })).toThrow();
    expect(() => webhook.verify(body, { ...headers, "webhook-timestamp": later })).toThrow();
  });

  it("have the same id and a new time on a later attempt", () => {
    const secrets = [newSigningSecret()];
    const first = signedHeaders({
      id: "evt_1",
      timestamp: new Date(10_000),
      body,
      keys: secrets.map(signingKey),
    });
    const second = signedHeaders({
      id: "evt_1",
      timestamp: new Date(15_000),
      body,
      keys: secrets.map(signingKey),
    });
    expect(second["webhook-id"]).toBe(first["webhook-id"]);
    expect([first["webhook-timestamp"], second["webhook-timestamp"]]).toEqual(["10", "15"]);
    expect(second["webhook-signature"]).not.toBe(first["webhook-signature"]);
  });
});
