import { resolve } from "node:path";
import { expect } from "vitest";
import { type Config, ConfigError, readConfig } from "../../src/platform/config.ts";

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

const RETRY_LISTS_REFUSED = [
  "-1",
  "5,,30",
  "5,",
  "5;30",
  "5s",
  "1e3",
  "0x10",
  ".5",
  "5.",
  "Infinity",
  "31536001",
  "five",
  Array(51).fill("5").join(","),
];

const KEYS = [1, 255].map((byte) => Buffer.alloc(32, byte));

/** Every variable: valid values, with the result, and invalid values. */
export const VARIABLES: Record<
  string,
  { taken: [value: string, becomes: Partial<Config>][]; refused: string[] }
> = {
  DATABASE_URL: {
    taken: [
      [
        "postgres://user:secret@db.example:5432/orders",
        { databaseUrl: "postgres://user:secret@db.example:5432/orders" },
      ],
      ["postgresql://db.example/orders", { databaseUrl: "postgresql://db.example/orders" }],
    ],
    refused: [
      "db.example",
      "mysql://db.example/orders",
      "http://db.example",
      "postgres:",
      "localhost:5432",
      "not an address",
    ],
  },
  DATA_DIR: {
    taken: [
      ["/var/lib/partner-orders", { dataDir: "/var/lib/partner-orders" }],
      ["some/folder", { dataDir: resolve("some/folder") }],
    ],
    refused: [],
  },
  HOST: {
    taken: [
      ["0.0.0.0", { host: "0.0.0.0" }],
      ["::1", { host: "::1" }],
    ],
    refused: [],
  },
  PORT: {
    taken: [
      ["1", { port: 1, baseUrl: "http://localhost:1" }],
      ["65535", { port: 65_535, baseUrl: "http://localhost:65535" }],
      ["0", { port: 0, baseUrl: "http://localhost:0" }],
    ],
    refused: ["-1", "65536", "http", "80.5", "0x50", "1e3", "8 080", "+80"],
  },
  BACK_OFFICE_PORT: {
    taken: [
      ["9000", { backOfficePort: 9_000, errorsBaseUrl: "http://localhost:9000/errors" }],
      ["0", { backOfficePort: 0, errorsBaseUrl: "http://localhost:0/errors" }],
    ],
    refused: ["-1", "65536", "http", "8080"],
  },
  BASE_URL: {
    taken: [
      ["https://orders.example", { baseUrl: "https://orders.example" }],
      ["https://orders.example/", { baseUrl: "https://orders.example" }],
      ["http://localhost:1234/partner//", { baseUrl: "http://localhost:1234/partner" }],
    ],
    refused: [
      "orders.example",
      "ftp://orders.example",
      "//orders.example",
      "https:orders.example",
      "https://",
    ],
  },
  ERRORS_BASE_URL: {
    taken: [["https://docs.example/errors/", { errorsBaseUrl: "https://docs.example/errors" }]],
    refused: ["docs.example/errors", "urn:errors", "/errors"],
  },
  ROLES: {
    taken: [
      ["api", { roles: new Set(["api"] as const) }],
      ["worker , back-office", { roles: new Set(["back-office", "worker"] as const) }],
      ["worker,worker", { roles: new Set(["worker"] as const) }],
    ],
    refused: ["web", "api,web", "api,", ",", "API", "api worker", "api;worker"],
  },
  OPERATOR_TOKEN: {
    taken: [["0123456789abcdef", { operatorToken: "0123456789abcdef" }]],
    refused: ["0123456789abcde", "0123456789 abcdef", "0123456789abcdeé"],
  },
  ACCEPTANCE_WINDOW_SECONDS: {
    taken: [
      ["1", { acceptanceWindowMs: 1_000 }],
      ["31536000", { acceptanceWindowMs: 31_536_000_000 }],
    ],
    refused: ["0", "-1", "31536001", "2h", "7200.5"],
  },
  TEST_ORDER_LIFETIME_SECONDS: {
    taken: [
      ["1", { testOrderLifetimeMs: 1_000 }],
      ["31536000", { testOrderLifetimeMs: 31_536_000_000 }],
    ],
    refused: ["0", "-1", "31536001", "2h", "7200.5"],
  },
  RATE_LIMIT_PER_MINUTE: {
    taken: [
      ["0", { rateLimitPerMinute: 0 }],
      ["10000000", { rateLimitPerMinute: 10_000_000 }],
    ],
    refused: ["-1", "10000001", "off", "Infinity"],
  },
  WEBHOOK_TIMEOUT_MS: {
    taken: [
      ["100", { webhookTimeoutMs: 100 }],
      ["60000", { webhookTimeoutMs: 60_000 }],
    ],
    refused: ["99", "60001", "0", "15s", "1500.5"],
  },
  WEBHOOK_RETRY_SECONDS: {
    taken: [
      ["5", { webhookRetryMs: [5_000] }],
      ["0 , 0.25, 31536000", { webhookRetryMs: [0, 250, 31_536_000_000] }],
      [Array(50).fill("1").join(","), { webhookRetryMs: Array(50).fill(1_000) }],
    ],
    refused: RETRY_LISTS_REFUSED,
  },
  WEBHOOK_TEST_RETRY_SECONDS: {
    taken: [
      ["5", { webhookTestRetryMs: [5_000] }],
      ["0.001,2", { webhookTestRetryMs: [1, 2_000] }],
    ],
    refused: RETRY_LISTS_REFUSED,
  },
  WEBHOOK_ALLOW_PRIVATE_NETWORKS: {
    taken: [
      ["true", { webhookAllowPrivateNetworks: true }],
      ["false", { webhookAllowPrivateNetworks: false }],
    ],
    refused: ["yes", "1", "TRUE", "10.0.0.0/8"],
  },
  WEBHOOK_SECRET_KEYS: {
    taken: [
      [KEYS.map((key) => key.toString("base64url")).join(","), { webhookSecretKeys: KEYS }],
      [KEYS.map((key) => key.toString("base64")).join(" , "), { webhookSecretKeys: KEYS }],
      [Buffer.alloc(32, 255).toString("base64"), { webhookSecretKeys: KEYS.slice(1) }],
    ],
    refused: [
      Buffer.alloc(31, 1).toString("base64"),
      Buffer.alloc(33, 1).toString("base64"),
      Buffer.alloc(32, 1).toString("hex"),
      `${Buffer.alloc(32, 1).toString("base64")},`,
      `${Buffer.alloc(32, 1).toString("base64")},short`,
      `${"A".repeat(42)}!`,
    ],
  },
  PAYMENT_RETRY_SECONDS: {
    taken: [
      ["60, 3600", { paymentRetryMs: [60_000, 3_600_000] }],
      ["0", { paymentRetryMs: [0] }],
    ],
    refused: RETRY_LISTS_REFUSED,
  },
  STRIPE_SECRET_KEY: {
    taken: [["sk_test_0123456789abcdef", { stripeSecretKey: "sk_test_0123456789abcdef" }]],
    refused: ["sk_test", "sk_test_0123456789 abcdef", "sk_test_0123456789äbcdef"],
  },
  STRIPE_WEBHOOK_SECRET: {
    taken: [["whsec_0123456789abcdef", { stripeWebhookSecret: "whsec_0123456789abcdef" }]],
    refused: ["whsec_", "whsec_0123456789 abcdef"],
  },
  STRIPE_API_URL: {
    taken: [["http://localhost:12111/", { stripeApiUrl: "http://localhost:12111" }]],
    refused: ["localhost:12111", "ftp://localhost", "https://"],
  },
  SMTP_URL: {
    taken: [
      ["smtp://mail.example", { smtpUrl: "smtp://mail.example" }],
      ["smtps://user:secret@mail.example:465/", { smtpUrl: "smtps://user:secret@mail.example:465" }],
    ],
    refused: ["mail.example", "http://mail.example", "smtp:mail.example", "mail.example:25"],
  },
  MAIL_FROM: {
    taken: [["orders@mail.example", { mailFrom: "orders@mail.example" }]],
    refused: ["orders", "@mail.example", "Orders <orders@mail.example>", "a@b, c@d", "a b@mail.example"],
  },
  LOG_LEVEL: {
    taken: ["silent", "fatal", "error", "warn", "info", "debug", "trace"].map((logLevel) => [
      logLevel,
      { logLevel: logLevel as Config["logLevel"] },
    ]),
    refused: ["verbose", "INFO", "30"],
  },
};
