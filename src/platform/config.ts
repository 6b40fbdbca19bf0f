import { readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { type Environment, EnvironmentReader } from "./environment.ts";
import type { MoneyByCurrency } from "./money.ts";
import { DAY_MS } from "./time.ts";

export const ROLES = ["api", "back-office", "worker"] as const;
export type Role = (typeof ROLES)[number];

const LOG_LEVELS = ["silent", "fatal", "error", "warn", "info", "debug", "trace"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

const MINUTE_SECONDS = 60;
const HOUR_SECONDS = 60 * MINUTE_SECONDS;

/**
 * The wait after each failed attempt to send a webhook (docs/design/deliveries.md, "Retry schedule"): 13 attempts in about 68
 * hours. The first intervals are short, because a partner can cancel only for two hours.
 */
const RETRY_SECONDS = [
  5, // After attempt 1.
  30,
  2 * MINUTE_SECONDS,
  10 * MINUTE_SECONDS,
  30 * MINUTE_SECONDS, // After attempt 5.
  1 * HOUR_SECONDS,
  2 * HOUR_SECONDS,
  4 * HOUR_SECONDS,
  8 * HOUR_SECONDS,
  12 * HOUR_SECONDS, // After attempt 10.
  16 * HOUR_SECONDS,
  24 * HOUR_SECONDS, // After attempt 12. Attempt 13 is the last one.
];
/** For the events of test orders, which exist only for hours. */
const TEST_RETRY_SECONDS = RETRY_SECONDS.slice(0, 5);
// An hour, six hours, then days: most declines end when a person pays or replaces a card.
const PAYMENT_RETRY_SECONDS = [1, 6, 24, 48, 72].map((hours) => hours * HOUR_SECONDS);
/**
 * So high that normal orders never reach them (docs/design/lifecycle.md, "Review"). A currency without an entry has no such
 * limit.
 */
const REVIEW_ORDER_VALUES =
  "EUR 2500000,USD 2500000,GBP 2500000,CHF 2500000,AUD 2500000,CAD 2500000,JPY 375000000,SEK 25000000,NOK 25000000,DKK 25000000,PLN 12500000";
const ALERT_ORDER_VALUES =
  "EUR 1000000,USD 1000000,GBP 1000000,CHF 1000000,AUD 1000000,CAD 1000000,JPY 150000000,SEK 10000000,NOK 10000000,DKK 10000000,PLN 5000000";

/** The requests to the back office that are allowed for each request of a connection, unless configured. */
const BACK_OFFICE_TIMES = 10;

/** A stop has ten seconds in all (docs/design/database.md, "Starting and stopping"). */
export const SHUTDOWN_DELAY_MAX_MS = 3_000;

/** The configuration, read once at the start. `.env.example` describes each variable. */
export type Config = Readonly<{
  /** May name several servers. Null: the service runs its own PostgreSQL in `dataDir`. */
  databaseUrl: string | null;
  dataDir: string;
  host: string;
  port: number;
  backOfficePort: number;
  /** Public address of the partner API, without a trailing slash. */
  baseUrl: string;
  /** A problem's `type` is this address, a slash and the problem's code. */
  errorsBaseUrl: string;
  /** Address at which people open the back office, without a trailing slash. */
  backOfficeUrl: string;
  /** Addresses and networks of proxies, whose `X-Forwarded-For` names the client. */
  trustedProxies: readonly string[];
  /** The identity provider with which people can sign in. Null: none, and then client and secret are null too. */
  oidcIssuer: string | null;
  oidcClientId: string | null;
  oidcClientSecret: string | null;
  /** What the button of the sign-in page calls it. */
  oidcName: string;
  roles: ReadonlySet<Role>;
  /** How many processes of the role `api`, or of `worker` without it, the command starts. 1: one process has all roles. */
  processes: number;
  /** Null: generated at the first start and kept in `dataDir`. */
  operatorToken: string | null;
  acceptanceWindowMs: number;
  testOrderLifetimeMs: number;
  /**
   * The connection whose products those see who make a test key without a person. Null: only people issue keys
   * (docs/design/isolation-and-limits.md, "Test keys without a person").
   */
  selfServiceTestKeys: string | null;
  /** Requests per minute and connection; 0 disables the limit. */
  rateLimitPerMinute: number;
  /** Requests to the back office per minute, of a merchant's callers together or of another caller; 0 disables the limit. */
  backOfficeRateLimitPerMinute: number;
  /** Value of goods beyond which an order needs review, unless its connection has a limit of its own. */
  reviewOrderValuesMinor: MoneyByCurrency;
  /** The same for the units of an order; null: no limit. */
  reviewOrderQuantity: number | null;
  /** Value of the goods that a connection orders within an hour beyond which operators are alerted. */
  alertOrderValuesMinor: MoneyByCurrency;
  /** Credit limits of merchants that are created without one. A currency without an entry: unlimited. */
  creditLimitsMinor: MoneyByCurrency;
  /** Time limit of one attempt: connecting, sending and reading the response. */
  webhookTimeoutMs: number;
  /** Intervals between the attempts to deliver a real event. There are as many retries as entries. */
  webhookRetryMs: readonly number[];
  /** The same for the events of test orders, which exist only for hours. */
  webhookTestRetryMs: readonly number[];
  /** Accepts endpoints with http and on private networks, for a laptop or a test. */
  webhookAllowPrivateNetworks: boolean;
  /** Networks that deliveries come from, as partners read them. Null: none are named. */
  webhookSources: readonly string[] | null;
  /** What they change to, and when. Null: no change is planned. */
  webhookSourcesNext: { readonly at: Date; readonly addresses: readonly string[] } | null;
  /** Keys of 32 bytes that encrypt signing secrets, newest first. Null: one is generated and kept in `dataDir`. */
  webhookSecretKeys: readonly Buffer[] | null;
  /** Intervals between the attempts at a declined charge or refund. There are as many retries as entries. */
  paymentRetryMs: readonly number[];
  /** How long settled orders keep the personal data of their buyers; null: always. */
  personalDataMs: number | null;
  /** How long entries of the audit log are kept. */
  auditRetentionMs: number;
  /** Null: no merchant can be charged through Stripe. */
  stripeSecretKey: string | null;
  /** Null: Stripe's webhooks are rejected, and the service polls Stripe for outcomes. */
  stripeWebhookSecret: string | null;
  stripeApiUrl: string;
  /** Null: mails are written to files in `dataDir`. */
  smtpUrl: string | null;
  /** The sender address of mails. */
  mailFrom: string;
  logLevel: LogLevel;
  /** How long the process still accepts requests after it has reported that it stops. */
  shutdownDelayMs: number;
  /** The part of the requests that is logged, from 0 to 1. */
  requestLogSample: number;
}>;

/** Thrown when the environment is invalid; `errors` has one sentence per variable. */
export class ConfigError extends Error {
  readonly errors: readonly string[];
  constructor(errors: readonly string[]) {
    super(`The configuration is invalid:\n${errors.map((error) => `  - ${error}`).join("\n")}`);
    this.name = "ConfigError";
    this.errors = errors;
  }
}

/**
 * Reads the configuration from environment variables. An empty variable counts as absent.
 * @throws ConfigError with an error for every invalid variable
 */
export function readConfig(environment: Environment): Config {
  const read = new EnvironmentReader(environment);
  const host = read.host("HOST", "127.0.0.1");
  const port = read.integer("PORT", 8080, 0, 65_535);
  const backOfficePort = read.integer("BACK_OFFICE_PORT", 8081, 0, 65_535);
  if (port !== 0 && port === backOfficePort) read.errors.push("BACK_OFFICE_PORT must differ from PORT.");
  const rateLimitPerMinute = read.integer("RATE_LIMIT_PER_MINUTE", 600, 0, 10_000_000);
  const config: Config = {
    databaseUrl: read.databaseUrl("DATABASE_URL"),
    dataDir: resolve(read.text("DATA_DIR", ".data")),
    host,
    port,
    backOfficePort,
    baseUrl: read.url("BASE_URL", `http://localhost:${port}`, ["http:", "https:"]),
    errorsBaseUrl: read.url("ERRORS_BASE_URL", `http://localhost:${backOfficePort}/errors`, [
      "http:",
      "https:",
    ]),
    backOfficeUrl: read.url("BACK_OFFICE_URL", `http://localhost:${backOfficePort}`, ["http:", "https:"]),
    trustedProxies: read.networks("TRUSTED_PROXIES"),
    oidcIssuer: read.url("OIDC_ISSUER", null, ["https:", "http:"]),
    oidcClientId: read.text("OIDC_CLIENT_ID", "") || null,
    oidcClientSecret: read.secret("OIDC_CLIENT_SECRET", 1),
    oidcName: read.text("OIDC_NAME", "single sign-on"),
    roles: read.set("ROLES", ROLES),
    processes: read.integer("PROCESSES", 1, 1, 64),
    operatorToken: read.secret("OPERATOR_TOKEN", 16),
    acceptanceWindowMs: 1_000 * read.integer("ACCEPTANCE_WINDOW_SECONDS", 7_200, 1, 31_536_000),
    testOrderLifetimeMs: 1_000 * read.integer("TEST_ORDER_LIFETIME_SECONDS", 7_200, 1, 31_536_000),
    selfServiceTestKeys: read.id("SELF_SERVICE_TEST_KEYS", "con"),
    rateLimitPerMinute,
    backOfficeRateLimitPerMinute: read.integer(
      "BACK_OFFICE_RATE_LIMIT_PER_MINUTE",
      BACK_OFFICE_TIMES * rateLimitPerMinute,
      0,
      BACK_OFFICE_TIMES * 10_000_000,
    ),
    reviewOrderValuesMinor: read.moneyList("REVIEW_ORDER_VALUES", REVIEW_ORDER_VALUES),
    reviewOrderQuantity: read.integer("REVIEW_ORDER_QUANTITY", 500_000, 0, 2_000_000_000) || null,
    alertOrderValuesMinor: read.moneyList("ALERT_ORDER_VALUES", ALERT_ORDER_VALUES),
    creditLimitsMinor: read.moneyList("CREDIT_LIMITS", "none"),
    webhookTimeoutMs: read.integer("WEBHOOK_TIMEOUT_MS", 15_000, 100, 60_000),
    webhookRetryMs: read.waitsMs("WEBHOOK_RETRY_SECONDS", RETRY_SECONDS),
    webhookTestRetryMs: read.waitsMs("WEBHOOK_TEST_RETRY_SECONDS", TEST_RETRY_SECONDS),
    webhookAllowPrivateNetworks:
      read.oneOf("WEBHOOK_ALLOW_PRIVATE_NETWORKS", ["true", "false"], "false") === "true",
    webhookSources: read.sources("WEBHOOK_SOURCES"),
    webhookSourcesNext: read.nextSources("WEBHOOK_SOURCES_NEXT"),
    webhookSecretKeys: read.secretKeys("WEBHOOK_SECRET_KEYS"),
    paymentRetryMs: read.waitsMs("PAYMENT_RETRY_SECONDS", PAYMENT_RETRY_SECONDS),
    personalDataMs: DAY_MS * read.integer("PERSONAL_DATA_DAYS", 0, 0, 36_500) || null,
    auditRetentionMs: DAY_MS * read.integer("AUDIT_RETENTION_DAYS", 400, 1, 36_500),
    stripeSecretKey: read.secret("STRIPE_SECRET_KEY", 16),
    stripeWebhookSecret: read.secret("STRIPE_WEBHOOK_SECRET", 16),
    stripeApiUrl: read.url("STRIPE_API_URL", "https://api.stripe.com", ["https:", "http:"]),
    smtpUrl: read.url("SMTP_URL", null, ["smtp:", "smtps:"]),
    mailFrom: read.mailAddress("MAIL_FROM", "partner-orders@localhost"),
    logLevel: read.oneOf("LOG_LEVEL", LOG_LEVELS, "info"),
    shutdownDelayMs: read.integer("SHUTDOWN_DELAY_MS", 2_000, 0, SHUTDOWN_DELAY_MAX_MS),
    requestLogSample: read.fraction("REQUEST_LOG_SAMPLE", 1),
  };
  if (config.webhookSourcesNext !== null && config.webhookSources === null)
    read.errors.push("WEBHOOK_SOURCES_NEXT needs WEBHOOK_SOURCES.");
  read.errors.push(...checkOidc(config), ...checkSelfService(config));
  if (read.errors.length > 0) throw new ConfigError(read.errors);
  return Object.freeze(config);
}

/** The variables of an identity provider: all of them, or none. */
function checkOidc(config: Config): string[] {
  const { oidcIssuer, oidcClientId, oidcClientSecret } = config;
  const [first] = Object.entries({
    OIDC_ISSUER: oidcIssuer,
    OIDC_CLIENT_ID: oidcClientId,
    OIDC_CLIENT_SECRET: oidcClientSecret,
  }).filter(([, value], _index, all) => value !== null && all.some(([, other]) => other === null));
  return first === undefined
    ? []
    : [
        `${first[0]} must be set together with the other two of OIDC_ISSUER, OIDC_CLIENT_ID and OIDC_CLIENT_SECRET.`,
      ];
}

/** Strangers have requests sent by the service, and are held back by its limits alone. */
function checkSelfService(config: Config): string[] {
  if (config.selfServiceTestKeys === null) return [];
  const errors: string[] = [];
  if (config.webhookAllowPrivateNetworks)
    errors.push(
      "SELF_SERVICE_TEST_KEYS must not be set while WEBHOOK_ALLOW_PRIVATE_NETWORKS is true: strangers could have requests sent into your network.",
    );
  if (config.rateLimitPerMinute === 0)
    errors.push(
      "SELF_SERVICE_TEST_KEYS must not be set while RATE_LIMIT_PER_MINUTE is 0: strangers could send requests without a limit.",
    );
  return errors;
}

/** The version of the running code, from package.json. */
export function readVersion(): string {
  const file = join(dirname(fileURLToPath(import.meta.url)), "..", "..", "package.json");
  const { version } = JSON.parse(readFileSync(file, "utf8")) as { version: string }; // Our own file.
  return version;
}
