import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { readConfig } from "../../../src/platform/config.ts";
import { errorsOf, VARIABLES } from "../../support/config-variables.ts";

/** Exactly one error, about this variable. */
function expectError(name: string, value: string): void {
  const errors = errorsOf({ [name]: value });
  expect(errors, `${name}=${value}`).toHaveLength(1);
  expect(errors[0]).toMatch(new RegExp(`^${name} must .*\\.$`));
}

/** The same value in each currency, roughly, in minor units. */
function valuesOf(euros: bigint): ReadonlyMap<string, bigint> {
  const alike = ["EUR", "USD", "GBP", "CHF", "AUD", "CAD"].map((code): [string, bigint] => [
    code,
    euros * 100n,
  ]);
  const crowns = ["SEK", "NOK", "DKK"].map((code): [string, bigint] => [code, euros * 1_000n]);
  return new Map([...alike, ["JPY", euros * 150n], ...crowns, ["PLN", euros * 500n]]);
}

describe("the configuration without any variable", () => {
  it("runs all roles on this machine, with the specification's limits", () => {
    expect(readConfig({})).toEqual({
      databaseUrl: null,
      dataDir: resolve(".data"),
      host: "127.0.0.1",
      port: 8080,
      backOfficePort: 8081,
      baseUrl: "http://localhost:8080",
      errorsBaseUrl: "http://localhost:8081/errors",
      backOfficeUrl: "http://localhost:8081",
      trustedProxies: [],
      oidcIssuer: null,
      oidcClientId: null,
      oidcClientSecret: null,
      oidcName: "single sign-on",
      roles: new Set(["api", "back-office", "worker"]),
      processes: 1,
      operatorToken: null,
      acceptanceWindowMs: 7_200_000,
      testOrderLifetimeMs: 7_200_000,
      selfServiceTestKeys: null,
      rateLimitPerMinute: 600,
      backOfficeRateLimitPerMinute: 6_000,
      reviewOrderValuesMinor: valuesOf(2_500_000n),
      reviewOrderQuantity: 500_000,
      alertOrderValuesMinor: valuesOf(1_000_000n),
      creditLimitsMinor: new Map(),
      webhookTimeoutMs: 15_000,
      webhookRetryMs: [5, 30, 120, 600, 1_800, 3_600, 7_200, 14_400, 28_800, 43_200, 57_600, 86_400].map(
        (seconds) => 1_000 * seconds,
      ),
      webhookTestRetryMs: [5_000, 30_000, 120_000, 600_000, 1_800_000],
      webhookAllowPrivateNetworks: false,
      webhookSources: null,
      webhookSourcesNext: null,
      webhookSecretKeys: null,
      paymentRetryMs: [1, 6, 24, 48, 72].map((hours) => 3_600_000 * hours),
      personalDataMs: null,
      auditRetentionMs: 400 * 86_400_000,
      stripeSecretKey: null,
      stripeWebhookSecret: null,
      stripeApiUrl: "https://api.stripe.com",
      smtpUrl: null,
      mailFrom: "partner-orders@localhost",
      logLevel: "info",
      shutdownDelayMs: 2_000,
      requestLogSample: 1,
    });
  });

  it("cannot be changed once it is read", () => {
    const config = readConfig({});
    expect(Object.isFrozen(config)).toBe(true);
    expect(Object.isFrozen(config.webhookRetryMs)).toBe(true);
    expect(Object.isFrozen(config.webhookTestRetryMs)).toBe(true);
    expect(Object.isFrozen(config.paymentRetryMs)).toBe(true);
  });
});

describe.each(Object.entries(VARIABLES))("%s", (name, { accepted, rejected }) => {
  it.each(accepted)("takes %j", (value, becomes) => {
    expect(readConfig({ [name]: value })).toEqual({ ...readConfig({}), ...becomes });
  });

  it("is trimmed, and counts as absent when it is empty", () => {
    for (const empty of ["", "  ", "\t"]) expect(readConfig({ [name]: empty })).toEqual(readConfig({}));
    const [value = "", becomes = {}] = accepted[0] ?? [];
    expect(readConfig({ [name]: ` ${value} ` })).toEqual({ ...readConfig({}), ...becomes });
  });

  it.each(rejected)("rejects %j with one error that names it", (value) => {
    expectError(name, value);
  });
});

describe("the two ports", () => {
  it("must differ, also from the other's default", () => {
    expect(errorsOf({ PORT: "9000", BACK_OFFICE_PORT: "9000" })).toEqual([
      "BACK_OFFICE_PORT must differ from PORT.",
    ]);
    expect(errorsOf({ PORT: "8081" })).toHaveLength(1);
    expect(errorsOf({ PORT: "8081", BACK_OFFICE_PORT: "8082" })).toEqual([]);
  });

  it("can both be 0, for free ports", () => {
    expect(readConfig({ PORT: "0", BACK_OFFICE_PORT: "0" })).toMatchObject({ port: 0, backOfficePort: 0 });
  });
});

describe("the identity provider", () => {
  const oidc = {
    OIDC_ISSUER: "https://id.example/",
    OIDC_CLIENT_ID: "console",
    OIDC_CLIENT_SECRET: "secret",
  };

  it("is configured by three variables together", () => {
    expect(readConfig(oidc)).toMatchObject({
      oidcIssuer: "https://id.example",
      oidcClientId: "console",
      oidcClientSecret: "secret",
    });
    expect(errorsOf({ ...oidc, OIDC_CLIENT_ID: "" })).toHaveLength(1);
  });
});

describe("test keys without a person", () => {
  const offered = { SELF_SERVICE_TEST_KEYS: "con_01m7y7np16fe68bxp4h91tdmdn" };

  it("are not offered where strangers could reach a private network, or send without a limit", () => {
    expect(errorsOf(offered)).toEqual([]);
    expect(errorsOf({ ...offered, WEBHOOK_ALLOW_PRIVATE_NETWORKS: "true" })).toEqual([
      "SELF_SERVICE_TEST_KEYS must not be set while WEBHOOK_ALLOW_PRIVATE_NETWORKS is true: strangers could have requests sent into your network.",
    ]);
    expect(errorsOf({ ...offered, RATE_LIMIT_PER_MINUTE: "0" })).toHaveLength(1);
  });
});

describe(".env.example", () => {
  const text = readFileSync(".env.example", "utf8");
  const documented = Object.fromEntries(
    [...text.matchAll(/^([A-Z_]+)=(.*)$/gm)].map(([, name = "", value = ""]) => [name, value]),
  );

  /** The variables that the code reads. */
  function variablesRead(): string[] {
    const names = new Set<string>();
    const environment = new Proxy<Record<string, string>>(
      {},
      {
        get: (_target, name) => {
          names.add(String(name));
          return undefined;
        },
      },
    );
    readConfig(environment);
    return [...names].sort();
  }

  it("names every variable that the code reads, and no other", () => {
    expect(Object.keys(documented).sort()).toEqual(variablesRead());
  });

  it("is covered by these tests", () => {
    expect(Object.keys(VARIABLES).sort()).toEqual(variablesRead());
  });

  it("contains the defaults", () => {
    expect(readConfig(documented)).toEqual(readConfig({}));
  });

  it("explains each variable in the lines above it", () => {
    for (const name of Object.keys(documented))
      expect(text, name).toMatch(new RegExp(`^# .+\\n${name}=`, "m"));
  });
});
