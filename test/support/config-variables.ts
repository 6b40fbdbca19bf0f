import { resolve } from "node:path";
import { expect } from "vitest";
import { type Config, ConfigError, readConfig } from "../../src/platform/config.ts";
import { RETRY_LISTS_REJECTED, TRUSTED_PROXIES } from "./config-lists.ts";

/** The errors with which an environment is rejected. */
export function errorsOf(environment: Record<string, string>): readonly string[] {
  try {
    readConfig(environment);
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    return (error as ConfigError).errors;
  }
  return [];
}

type Variable = { accepted: [value: string, becomes: Partial<Config>][]; rejected: string[] };

/** A variable of amounts by currency. */
const moneyList = (field: keyof Config): Variable => ({
  accepted: [
    ["none", { [field]: new Map() }],
    ["EUR 1, JPY 2", { [field]: new Map(Object.entries({ EUR: 100n, JPY: 2n })) }],
    ["KWD  0.5", { [field]: new Map([["KWD", 500n]]) }],
  ],
  rejected: [
    "100",
    "EUR",
    "EUR 1,",
    "EUR 1,EUR 2",
    "EUR 1.005",
    "eur 1",
    "XXQ 1",
    "EUR -1",
    "EUR 1 2",
    "off",
  ],
});

const KEYS = [1, 255].map((byte) => Buffer.alloc(32, byte));

/** Every variable: valid values, with the result, and invalid values. */
export const VARIABLES: Record<string, Variable> = {
  DATABASE_URL: {
    accepted: [
      [
        "postgres://user:secret@db.example:5432/orders",
        { databaseUrl: "postgres://user:secret@db.example:5432/orders" },
      ],
      ["postgresql://db.example/orders", { databaseUrl: "postgresql://db.example/orders" }],
      [
        "postgres://user:secret@one:5432,two:5433/orders?target_session_attrs=read-write",
        { databaseUrl: "postgres://user:secret@one:5432,two:5433/orders?target_session_attrs=read-write" },
      ],
    ],
    rejected: [
      "db.example",
      "mysql://db.example/orders",
      "http://db.example",
      "postgres:",
      "postgres://one,two/orders?target_session_attrs=standby",
      "localhost:5432",
      "not an address",
    ],
  },
  DATA_DIR: {
    accepted: [
      ["/var/lib/partner-orders", { dataDir: "/var/lib/partner-orders" }],
      ["some/folder", { dataDir: resolve("some/folder") }],
    ],
    rejected: [],
  },
  HOST: {
    accepted: [
      ["0.0.0.0", { host: "0.0.0.0" }],
      ["::1", { host: "::1" }],
    ],
    rejected: [],
  },
  PORT: {
    accepted: [
      ["1", { port: 1, baseUrl: "http://localhost:1" }],
      ["65535", { port: 65_535, baseUrl: "http://localhost:65535" }],
      ["0", { port: 0, baseUrl: "http://localhost:0" }],
    ],
    rejected: ["-1", "65536", "http", "80.5", "0x50", "1e3", "8 080", "+80"],
  },
  BACK_OFFICE_PORT: {
    accepted: [
      [
        "9000",
        {
          backOfficePort: 9_000,
          errorsBaseUrl: "http://localhost:9000/errors",
          backOfficeUrl: "http://localhost:9000",
        },
      ],
      [
        "0",
        {
          backOfficePort: 0,
          errorsBaseUrl: "http://localhost:0/errors",
          backOfficeUrl: "http://localhost:0",
        },
      ],
    ],
    rejected: ["-1", "65536", "http", "8080"],
  },
  BASE_URL: {
    accepted: [
      ["https://orders.example", { baseUrl: "https://orders.example" }],
      ["https://orders.example/", { baseUrl: "https://orders.example" }],
      ["http://localhost:1234/partner//", { baseUrl: "http://localhost:1234/partner" }],
    ],
    rejected: ["orders.example", "ftp://o.example", "//o.example", "https:o.example", "https://"],
  },
  BACK_OFFICE_URL: {
    accepted: [["https://console.example/", { backOfficeUrl: "https://console.example" }]],
    rejected: ["console.example", "ftp://console.example"],
  },
  TRUSTED_PROXIES,
  // A test of its own has all of them.
  OIDC_ISSUER: { accepted: [], rejected: ["https://id.example", "id.example"] },
  OIDC_CLIENT_ID: { accepted: [], rejected: ["console"] },
  OIDC_CLIENT_SECRET: { accepted: [], rejected: ["secret"] },
  OIDC_NAME: { accepted: [["Example ID", { oidcName: "Example ID" }]], rejected: [] },
  ERRORS_BASE_URL: {
    accepted: [["https://docs.example/errors/", { errorsBaseUrl: "https://docs.example/errors" }]],
    rejected: ["docs.example/errors", "urn:errors", "/errors"],
  },
  PROCESSES: {
    accepted: [
      ["1", { processes: 1 }],
      ["64", { processes: 64 }],
    ],
    rejected: ["0", "65", "auto", "-1", "1.5"],
  },
  ROLES: {
    accepted: [
      ["api", { roles: new Set(["api"] as const) }],
      ["worker , back-office", { roles: new Set(["back-office", "worker"] as const) }],
      ["worker,worker", { roles: new Set(["worker"] as const) }],
    ],
    rejected: ["web", "api,web", "api,", ",", "API", "api worker", "api;worker"],
  },
  OPERATOR_TOKEN: {
    accepted: [["0123456789abcdef", { operatorToken: "0123456789abcdef" }]],
    rejected: ["0123456789abcde", "0123456789 abcdef", "0123456789abcdeé"],
  },
  ACCEPTANCE_WINDOW_SECONDS: {
    accepted: [
      ["1", { acceptanceWindowMs: 1_000 }],
      ["31536000", { acceptanceWindowMs: 31_536_000_000 }],
    ],
    rejected: ["0", "-1", "31536001", "2h", "7200.5"],
  },
  TEST_ORDER_LIFETIME_SECONDS: {
    accepted: [
      ["1", { testOrderLifetimeMs: 1_000 }],
      ["31536000", { testOrderLifetimeMs: 31_536_000_000 }],
    ],
    rejected: ["0", "-1", "31536001", "2h", "7200.5"],
  },
  PERSONAL_DATA_DAYS: {
    accepted: [
      ["0", { personalDataMs: null }],
      ["1", { personalDataMs: 86_400_000 }],
      ["36500", { personalDataMs: 36_500 * 86_400_000 }],
    ],
    rejected: ["36501", "-1", "1.5", "a year"],
  },
  AUDIT_RETENTION_DAYS: {
    accepted: [
      ["1", { auditRetentionMs: 86_400_000 }],
      ["36500", { auditRetentionMs: 36_500 * 86_400_000 }],
    ],
    rejected: ["0", "36501", "-1", "1.5", "a year"],
  },
  SELF_SERVICE_TEST_KEYS: {
    accepted: [
      ["con_01m7y7np16fe68bxp4h91tdmdn", { selfServiceTestKeys: "01a1fc7a-d826-7b8c-85f6-c48a43a6d1b5" }],
    ],
    rejected: [
      "10",
      "true",
      "con_",
      "con_1",
      "mer_01m7y7np16fe68bxp4h91tdmdn",
      "01a1fc7a-d826-7b8c-85f6-c48a43a6d1b5",
    ],
  },
  RATE_LIMIT_PER_MINUTE: {
    accepted: [
      ["0", { rateLimitPerMinute: 0, backOfficeRateLimitPerMinute: 0 }],
      ["10000000", { rateLimitPerMinute: 10_000_000, backOfficeRateLimitPerMinute: 100_000_000 }],
    ],
    rejected: ["-1", "10000001", "off", "Infinity"],
  },
  BACK_OFFICE_RATE_LIMIT_PER_MINUTE: {
    accepted: [
      ["0", { backOfficeRateLimitPerMinute: 0 }],
      ["100000000", { backOfficeRateLimitPerMinute: 100_000_000 }],
    ],
    rejected: ["-1", "100000001", "off"],
  },
  REVIEW_ORDER_VALUES: moneyList("reviewOrderValuesMinor"),
  ALERT_ORDER_VALUES: moneyList("alertOrderValuesMinor"),
  CREDIT_LIMITS: moneyList("creditLimitsMinor"),
  REVIEW_ORDER_QUANTITY: {
    accepted: [
      ["0", { reviewOrderQuantity: null }],
      ["1", { reviewOrderQuantity: 1 }],
      ["2000000000", { reviewOrderQuantity: 2_000_000_000 }],
    ],
    rejected: ["-1", "1.5", "2000000001", "none"],
  },
  WEBHOOK_TIMEOUT_MS: {
    accepted: [
      ["100", { webhookTimeoutMs: 100 }],
      ["60000", { webhookTimeoutMs: 60_000 }],
    ],
    rejected: ["99", "60001", "0", "15s", "1500.5"],
  },
  WEBHOOK_RETRY_SECONDS: {
    accepted: [
      ["5", { webhookRetryMs: [5_000] }],
      ["0 , 0.25, 31536000", { webhookRetryMs: [0, 250, 31_536_000_000] }],
      [Array(50).fill("1").join(","), { webhookRetryMs: Array(50).fill(1_000) }],
    ],
    rejected: RETRY_LISTS_REJECTED,
  },
  WEBHOOK_TEST_RETRY_SECONDS: {
    accepted: [
      ["5", { webhookTestRetryMs: [5_000] }],
      ["0.001,2", { webhookTestRetryMs: [1, 2_000] }],
    ],
    rejected: RETRY_LISTS_REJECTED,
  },
  WEBHOOK_SOURCES: {
    accepted: [["203.0.113.0/24, 2001:db8::1", { webhookSources: ["203.0.113.0/24", "2001:db8::1/128"] }]],
    rejected: ["gateway.example", "203.0.113.0/33", "203.0.113.1,"],
  },
  // A test of its own has it beside WEBHOOK_SOURCES.
  WEBHOOK_SOURCES_NEXT: {
    accepted: [],
    rejected: [
      "2027-01-15T06:00:00Z",
      "203.0.113.0/24",
      "2027-01-15 203.0.113.0/24",
      "2027-13-15T06:00:00Z 203.0.113.0/24",
    ],
  },
  WEBHOOK_ALLOW_PRIVATE_NETWORKS: {
    accepted: [
      ["true", { webhookAllowPrivateNetworks: true }],
      ["false", { webhookAllowPrivateNetworks: false }],
    ],
    rejected: ["yes", "1", "TRUE", "10.0.0.0/8"],
  },
  WEBHOOK_SECRET_KEYS: {
    accepted: [
      [KEYS.map((key) => key.toString("base64url")).join(","), { webhookSecretKeys: KEYS }],
      [KEYS.map((key) => key.toString("base64")).join(" , "), { webhookSecretKeys: KEYS }],
      [Buffer.alloc(32, 255).toString("base64"), { webhookSecretKeys: KEYS.slice(1) }],
    ],
    rejected: [
      Buffer.alloc(31, 1).toString("base64"),
      Buffer.alloc(33, 1).toString("base64"),
      Buffer.alloc(32, 1).toString("hex"),
      `${Buffer.alloc(32, 1).toString("base64")},`,
      `${Buffer.alloc(32, 1).toString("base64")},short`,
      `${"A".repeat(42)}!`,
    ],
  },
  PAYMENT_RETRY_SECONDS: {
    accepted: [
      ["60, 3600", { paymentRetryMs: [60_000, 3_600_000] }],
      ["0", { paymentRetryMs: [0] }],
    ],
    rejected: RETRY_LISTS_REJECTED,
  },
  STRIPE_SECRET_KEY: {
    accepted: [["sk_test_0123456789abcdef", { stripeSecretKey: "sk_test_0123456789abcdef" }]],
    rejected: ["sk_test", "sk_test_0123456789 abcdef", "sk_test_0123456789äbcdef"],
  },
  STRIPE_WEBHOOK_SECRET: {
    accepted: [["whsec_0123456789abcdef", { stripeWebhookSecret: "whsec_0123456789abcdef" }]],
    rejected: ["whsec_", "whsec_0123456789 abcdef"],
  },
  STRIPE_API_URL: {
    accepted: [["http://localhost:12111/", { stripeApiUrl: "http://localhost:12111" }]],
    rejected: ["localhost:12111", "ftp://localhost", "https://"],
  },
  SMTP_URL: {
    accepted: [
      ["smtp://mail.example", { smtpUrl: "smtp://mail.example" }],
      ["smtps://user:secret@mail.example:465/", { smtpUrl: "smtps://user:secret@mail.example:465" }],
    ],
    rejected: ["mail.example", "http://mail.example", "smtp:mail.example", "mail.example:25"],
  },
  MAIL_FROM: {
    accepted: [["orders@mail.example", { mailFrom: "orders@mail.example" }]],
    rejected: ["orders", "@mail.example", "Orders <orders@mail.example>", "a@b, c@d", "a b@mail.example"],
  },
  LOG_LEVEL: {
    accepted: ["silent", "fatal", "error", "warn", "info", "debug", "trace"].map((logLevel) => [
      logLevel,
      { logLevel: logLevel as Config["logLevel"] },
    ]),
    rejected: ["verbose", "INFO", "30"],
  },
  SHUTDOWN_DELAY_MS: {
    accepted: [
      ["0", { shutdownDelayMs: 0 }],
      ["3000", { shutdownDelayMs: 3_000 }],
    ],
    rejected: ["-1", "3001", "1.5", "2s"],
  },
  REQUEST_LOG_SAMPLE: {
    accepted: [
      ["0", { requestLogSample: 0 }],
      ["0.01", { requestLogSample: 0.01 }],
      ["1", { requestLogSample: 1 }],
    ],
    rejected: ["-1", "1.1", "2", "1%", ".5", "half"],
  },
};
