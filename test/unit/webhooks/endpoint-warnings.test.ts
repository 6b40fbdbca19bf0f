import { describe, expect, it } from "vitest";
import {
  type WarningFacts,
  warningMail,
  warningToNamedAddress,
} from "../../../src/webhooks/endpoints/health.ts";

const MERCHANT_ID = "01a1fc93-691a-7dab-a31b-167027d168d6";

const mail = (facts: Partial<WarningFacts> = {}, write = warningMail) =>
  write({
    stage: 1,
    endpointUrl: "https://partner.example/webhooks",
    endpointId: "019aa000-0000-7000-8000-000000000001",
    owner: { merchantId: MERCHANT_ID, connectionId: "01a1fc93-691a-7dab-a31b-167027d168d7" },
    ownerName: "Web shop",
    failingSince: new Date("2026-03-02T09:30:00.000Z"),
    now: new Date("2026-03-03T10:00:00.000Z"),
    ...facts,
  });

const STAGES = [1, 2, 3] as const;

describe("a warning about an endpoint", () => {
  it.each(STAGES)(
    "%i names the endpoint, its connection, since when it fails, and where to look",
    (stage) => {
      const { subject, body } = mail({ stage });
      expect(subject).toMatch(/: Web shop$/);
      expect(body).toContain('"Web shop"');
      expect(body).toContain("https://partner.example/webhooks");
      expect(body).toContain("since 2026-03-02 09:30 UTC");
      expect(body).toContain("GET /v1/deliveries?endpointId={id}");
      expect(body).toContain("Written at 2026-03-03 10:00 UTC");
    },
  );

  it.each(STAGES)("%i about a merchant's own endpoint names the merchant and its paths", (stage) => {
    const owner = { merchantId: MERCHANT_ID, connectionId: MERCHANT_ID };
    const { body } = mail({ stage, owner, ownerName: "Acme" });
    expect(body).toContain('An endpoint of the merchant "Acme"');
    expect(body).toContain("GET /api/merchants/mer_01m7y96t8tfpnt66rpe0kx2t6p/deliveries?endpointId={id}");
    expect(body).not.toContain("/v1/");
  });

  it("shows its severity in its subject", () => {
    expect(STAGES.map((stage) => mail({ stage }).subject)).toEqual([
      "A webhook endpoint has been failing for a day: Web shop",
      "A webhook endpoint has been failing for three days: Web shop",
      "A webhook endpoint was paused: Web shop",
    ]);
  });

  it("announces the next mail and the pause", () => {
    expect(mail({ stage: 1 }).body).toContain("another mail after three days");
    for (const stage of [1, 2] as const)
      expect(mail({ stage }).body).toContain("without a success for five days is paused");
  });

  it("at the pause describes how to resume and to recover", () => {
    const { body } = mail({ stage: 3 });
    expect(body).toContain("POST /v1/webhook-endpoints/{id}/resume");
    expect(body).toMatch(/\/recover\n {2}\{"since": "2026-03-02T09:30:00.000Z"\}/);
  });

  it("does not offer to recover events that are no longer kept", () => {
    const { body } = mail({ stage: 3, now: new Date("2026-05-01T00:00:00.000Z") });
    expect(body).toContain('{"since": "2026-04-01T00:00:00.000Z"}');
  });

  it.each(STAGES)("%i contains neither credentials nor the query of the URL", (stage) => {
    const endpointUrl = "https://user:password@partner.example:8443/hooks/1?token=secret#fragment";
    const { subject, body } = mail({ stage, endpointUrl });
    expect(body).toContain("https://partner.example:8443/hooks/1?…\n");
    expect(subject + body).not.toMatch(/user:|password|token|secret|fragment|whsec_/);
  });

  it("has a subject of at most 80 characters, whatever the connection's name", () => {
    for (const stage of STAGES)
      expect([...mail({ stage, ownerName: "😀".repeat(255) }).subject]).toHaveLength(80);
  });

  it("has a subject of one line, whatever the connection's name", () => {
    const { subject } = mail({ ownerName: " Web\r\nBcc: all@shop.example\u0000 " });
    expect(subject).toMatch(/: Web Bcc: all@shop.example$/);
  });
});

describe("a warning to the address that an endpoint names", () => {
  const CHOSEN = { endpointUrl: "https://phish.example/claim-your-prize", ownerName: "You have won" };

  it.each(STAGES)("%i has nothing that a person has chosen, and no link", (stage) => {
    const { subject, body } = mail({ stage, ...CHOSEN }, warningToNamedAddress);
    expect(subject + body).not.toMatch(/phish|prize|won|http/);
    expect(subject).toMatch(/: whe_01kag00000e008000000000001$/);
    expect(body).toContain("of the connection con_");
  });

  it.each(STAGES)("%i says why it is received, and how to stop it", (stage) => {
    const { body } = mail({ stage }, warningToNamedAddress);
    expect(body).toContain("names this address in its field alertEmail");
    expect(body).toMatch(/PATCH \/v1\/webhook-endpoints\/whe_\w+\n {2}\{"alertEmail": null\}/);
    expect(body).toContain("reply to this mail");
  });

  it("about an endpoint of a facility names its paths", () => {
    const owner = { merchantId: "00000000-0000-0000-0000-000000000001", connectionId: MERCHANT_ID };
    const { body } = mail({ owner }, warningToNamedAddress);
    expect(body).toMatch(/PATCH \/api\/facilities\/fac_\w+\/webhook-endpoints\/whe_/);
  });
});
