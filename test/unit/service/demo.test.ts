import { describe, expect, it } from "vitest";
import { readConfig } from "../../../src/platform/config.ts";
import { welcome } from "../../../src/service/demo.ts";
import { demoEnvironment } from "../../../src/service/run-service.ts";

const allows = (environment: Record<string, string>) =>
  readConfig(demoEnvironment(environment)).webhookAllowPrivateNetworks;

describe("a demo", () => {
  it("sends webhooks to this machine, and every other start does not", () => {
    expect(allows({})).toBe(true);
    expect(readConfig({}).webhookAllowPrivateNetworks).toBe(false);
  });

  it("logs warnings and errors only, unless the log level is set", () => {
    expect(readConfig(demoEnvironment({})).logLevel).toBe("warn");
    expect(readConfig(demoEnvironment({ LOG_LEVEL: "info" })).logLevel).toBe("info");
    expect(readConfig({}).logLevel).toBe("info");
  });

  it("obeys an explicit setting; an empty one counts as absent", () => {
    expect(allows({ WEBHOOK_ALLOW_PRIVATE_NETWORKS: "false" })).toBe(false);
    expect(allows({ WEBHOOK_ALLOW_PRIVATE_NETWORKS: "true" })).toBe(true);
    expect(allows({ WEBHOOK_ALLOW_PRIVATE_NETWORKS: " " })).toBe(true);
    expect(() => allows({ WEBHOOK_ALLOW_PRIVATE_NETWORKS: "perhaps" })).toThrow("WEBHOOK_ALLOW");
  });

  it("names in its banner where it sends webhooks, and where the reference is", () => {
    const banner = (allowsPrivateNetworks: boolean) =>
      welcome(
        {
          key: "po_1",
          testKey: "po_test_1",
          productIds: ["1"],
          people: [{ role: "operator", url: "http://b/sign-in#token=pol_1" }],
        },
        { partnerApiUrl: "http://p", backOfficeUrl: "http://b", operatorToken: "t", allowsPrivateNetworks },
      );
    expect(banner(true)).toMatch(/Webhooks .*this machine \(WEBHOOK_ALLOW_PRIVATE_NETWORKS=true\)/);
    expect(banner(false)).toMatch(/Webhooks .*public https addresses only/);
    expect(banner(true)).toContain("http://p/v1/openapi.json");
    expect(banner(true)).toContain("operator       http://b/sign-in#token=pol_1");
  });
});
