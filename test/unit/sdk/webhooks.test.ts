import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { Webhook } from "standardwebhooks";
import { describe, expect, it } from "vitest";
import { type ReceivedRequest, WebhookVerificationError, webhooks } from "../../../packages/sdk/src/index.ts";
import { sampleEvent, sampleRequest, sampleTypes, signedSample } from "../../../packages/sdk/src/testing.ts";
import { HOSTILE, type Signed } from "../../support/hostile-signatures.ts";

const newSecret = () => `whsec_${randomBytes(32).toString("base64")}`;
const secret = newSecret();

const failureOf = (verified: Promise<unknown>) =>
  verified.then(
    () => "genuine",
    (error) => (error instanceof WebhookVerificationError ? error.reason : error),
  );

/** A sample, and the same in the forms in which programs receive it. */
async function received(type: (typeof sampleTypes)[number] = "order.created", options: object = {}) {
  const sample = await signedSample(type, { secret, ...options });
  const bytes = new TextEncoder().encode(sample.body);
  const forms: ReceivedRequest[] = [
    sample,
    { headers: new Headers(sample.headers), body: bytes },
    { headers: sample.headers, body: Buffer.from(bytes) },
    { headers: sample.headers, body: bytes.buffer },
    new Request("http://localhost/webhooks", { method: "POST", ...sample }),
  ];
  return { sample, forms };
}

describe("webhooks.verify", () => {
  it("returns the event, in whatever form a program has received it", async () => {
    const { forms } = await received("order.shipmentCreated");
    for (const form of forms) {
      const event = await webhooks.verify(form, secret);
      expect(event).toEqual(sampleEvent("order.shipmentCreated"));
    }
  });

  it("accepts what the public library of Standard Webhooks signs", async () => {
    const body = JSON.stringify({ ...sampleEvent("order.created"), note: "Kraków" });
    const sent = new Date();
    const headers = {
      "webhook-id": "evt_1",
      "webhook-timestamp": String(Math.floor(sent.getTime() / 1_000)),
      "webhook-signature": new Webhook(secret).sign("evt_1", sent, body),
    };
    expect(await webhooks.verify({ headers, body }, secret)).toMatchObject({ note: "Kraków" });
  });

  it("accepts one of several secrets, and one of several signatures", async () => {
    const [old, next, other] = [newSecret(), newSecret(), newSecret()];
    const rotating = await signedSample("order.created", { secret: [next, old] });
    for (const mine of [old, next, [other, old], [next, other]])
      expect(await failureOf(webhooks.verify(rotating, mine))).toBe("genuine");
    expect(await failureOf(webhooks.verify(rotating, other))).toBe("signature-mismatch");
  });

  it.each([
    [-301, "timestamp-outside-tolerance"],
    [-299, "genuine"],
    [299, "genuine"],
    [302, "timestamp-outside-tolerance"],
  ])("of a request that was sent %i seconds from now: %s", async (seconds, outcome) => {
    const now = Date.now();
    const sample = await signedSample("order.created", { secret, sentAt: now + seconds * 1_000 });
    expect(await failureOf(webhooks.verify(sample, secret, { now }))).toBe(outcome);
  });

  it("rejects another body, another secret, and a body that is too large before all of it is read", async () => {
    const { sample } = await received();
    expect(await failureOf(webhooks.verify({ ...sample, body: `${sample.body} ` }, secret))).toBe(
      "signature-mismatch",
    );
    expect(await failureOf(webhooks.verify({ ...sample, body: "" }, secret))).toBe("signature-mismatch");
    expect(await failureOf(webhooks.verify(sample, newSecret()))).toBe("signature-mismatch");
    let pulled = 0;
    const endless = new ReadableStream({
      pull(stream) {
        pulled += 1;
        stream.enqueue(new Uint8Array(65_536));
      },
    });
    const request = new Request("http://localhost/", {
      method: "POST",
      headers: sample.headers,
      body: endless,
      duplex: "half",
    });
    expect(await failureOf(webhooks.verify(request, secret))).toBe("body-too-large");
    expect(pulled).toBeLessThan(25);
  });

  it.each(HOSTILE)("rejects %s", async (_name, forge) => {
    const { headers, body } = await signedSample("order.created", { secret });
    const forged = forge(headers as Signed); // A sample has these three, and others.
    const sent = {
      ...headers,
      ...Object.fromEntries(
        Object.keys(headers)
          .filter((name) => name.startsWith("webhook-"))
          .map((name) => [name, forged[name]]),
      ),
    };
    expect(await webhooks.verify({ headers: sent, body }, secret).catch((error) => error)).toBeInstanceOf(
      WebhookVerificationError,
    );
  });

  it("keeps an event of a type that it does not know, and of the name of a property of objects", async () => {
    for (const type of ["order.delivered", "constructor", "__proto__"]) {
      const sample = await signedSample("order.created", { secret, event: { type } as object });
      expect(await webhooks.verify(sample, secret)).toMatchObject({ type: "unknown", sentType: type });
    }
  });

  it("rejects what is signed and no event", async () => {
    const signed = new Webhook(secret);
    for (const body of ["", "null", "[]", "{}", "7", "{"]) {
      const headers = {
        "webhook-id": "evt_1",
        "webhook-timestamp": String(Math.floor(Date.now() / 1_000)),
        "webhook-signature": signed.sign("evt_1", new Date(), body),
      };
      expect(await failureOf(webhooks.verify({ headers, body }, secret)), body).toBe("body-not-an-event");
    }
  });

  it("throws a TypeError for a fault of the program: a parsed body, no secret, or one of another form", async () => {
    const { sample } = await received();
    const parsed = { ...sample, body: JSON.parse(sample.body) };
    for (const verified of [
      webhooks.verify(parsed, secret),
      webhooks.verify(sample, []),
      webhooks.verify(sample, ""),
      webhooks.verify(sample, undefined as never),
      webhooks.verify(sample, secret.slice(6)),
      webhooks.verify(sample, "whsec_%"),
    ])
      expect(await failureOf(verified)).toBeInstanceOf(TypeError);
  });
});

describe("@partner-orders/sdk/testing", async () => {
  const { components } = JSON.parse(await readFile("openapi/partner.json", "utf8"));
  const ajv = new Ajv2020({ strict: false });
  addFormats.default(ajv);
  ajv.addSchema({ $id: "description", components });
  const isEvent = ajv.compile({ $ref: "description#/components/schemas/Event" });

  it.each(sampleTypes)("%s: a signed sample that is valid by its schema", async (type) => {
    const sample = await signedSample(type, { secret });
    expect(JSON.parse(sample.body).type).toBe(type);
    isEvent(JSON.parse(sample.body));
    expect(isEvent.errors ?? []).toEqual([]);
    expect(await webhooks.verify(await sampleRequest(type, { secret }), secret)).toMatchObject({ type });
  });

  it("has every type of event, with members of your own, at a time of your own", async () => {
    expect([...sampleTypes].sort()).toEqual(
      Object.keys(components.schemas.Event.discriminator.mapping).sort(),
    );
    const sample = await signedSample("order.onHold", {
      secret,
      event: { id: "evt_9", sequence: 7 },
      sentAt: 0,
    });
    expect(sample.headers).toMatchObject({ "webhook-id": "evt_9", "webhook-timestamp": "0" });
    expect(JSON.parse(sample.body)).toMatchObject({ id: "evt_9", sequence: 7 });
    expect(await failureOf(webhooks.verify(sample, secret))).toBe("timestamp-outside-tolerance");
  });

  it("a changed sample changes no other", () => {
    sampleEvent("order.created").data.order.lines.pop();
    expect(sampleEvent("order.created").data.order.lines).not.toEqual([]);
  });
});
