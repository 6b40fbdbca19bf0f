import { type Config, readConfig } from "../platform/config.ts";
import type { Context } from "../platform/context.ts";
import { serverUrls } from "../platform/database/servers.ts";
import { toTypeId } from "../platform/ids.ts";
import { formatMoney, type MoneyByCurrency } from "../platform/money.ts";
import { within } from "../platform/run-in-turn.ts";
import { DAY_MS, SECOND_MS } from "../platform/time.ts";
import {
  type DatabaseFigures,
  examineConfig,
  examineDatabase,
  type Finding,
  failed,
  readDatabaseFigures,
} from "./checks.ts";
import { type Backlog, QUEUES, sharedWhileRunning } from "./metrics.ts";
import {
  type JobSummary,
  listJobRuns,
  listProcesses,
  PROCESSES_SHOWN_MAX,
  type Process,
  readWorkers,
  sumUpJobs,
  type Workers,
} from "./processes-sql.ts";

/** The units that the names of variables end in. */
export const SETTING_UNITS = ["seconds", "milliseconds", "days", "requests per minute"] as const;

/** A variable of the environment with the value that the process uses. */
export type Setting = {
  readonly name: string;
  /** As one would write it. Null: it has none, or is secret. Addresses are without user, password and query. */
  readonly value: string | null;
  readonly default: string | null;
  readonly unit: (typeof SETTING_UNITS)[number] | null;
  readonly isSecret: boolean;
  /** True if it has a value; of a secret, all that is shown. */
  readonly isSet: boolean;
};

type Row = {
  readonly name: string;
  readonly isSecret?: true;
  text(config: Config): string | null;
};

const list = (ms: readonly number[]): string => ms.map((each) => each / SECOND_MS).join();
const amounts = (values: MoneyByCurrency): string =>
  [...values].map(([currency, minor]) => `${currency} ${formatMoney({ minor, currency }).amount}`).join() ||
  "none";
const secret = (name: string, value: (config: Config) => unknown): Row => ({
  name,
  isSecret: true,
  text: (config) => (value(config) === null ? null : "set"),
});

/** Every member of the configuration, so that a new one does not compile without its row. */
const ROWS: Readonly<Record<keyof Config, Row>> = {
  databaseUrl: { name: "DATABASE_URL", text: ({ databaseUrl }) => databaseAddress(databaseUrl) },
  dataDir: { name: "DATA_DIR", text: ({ dataDir }) => dataDir },
  host: { name: "HOST", text: ({ host }) => host },
  port: { name: "PORT", text: ({ port }) => String(port) },
  backOfficePort: { name: "BACK_OFFICE_PORT", text: ({ backOfficePort }) => String(backOfficePort) },
  baseUrl: { name: "BASE_URL", text: ({ baseUrl }) => plainAddress(baseUrl) },
  errorsBaseUrl: { name: "ERRORS_BASE_URL", text: ({ errorsBaseUrl }) => plainAddress(errorsBaseUrl) },
  backOfficeUrl: { name: "BACK_OFFICE_URL", text: ({ backOfficeUrl }) => plainAddress(backOfficeUrl) },
  trustedProxies: { name: "TRUSTED_PROXIES", text: ({ trustedProxies }) => trustedProxies.join() || null },
  oidcIssuer: { name: "OIDC_ISSUER", text: ({ oidcIssuer }) => plainAddress(oidcIssuer) },
  oidcClientId: { name: "OIDC_CLIENT_ID", text: ({ oidcClientId }) => oidcClientId },
  oidcClientSecret: secret("OIDC_CLIENT_SECRET", ({ oidcClientSecret }) => oidcClientSecret),
  oidcName: { name: "OIDC_NAME", text: ({ oidcName }) => oidcName },
  roles: { name: "ROLES", text: ({ roles }) => [...roles].join() },
  processes: { name: "PROCESSES", text: ({ processes }) => String(processes) },
  operatorToken: secret("OPERATOR_TOKEN", ({ operatorToken }) => operatorToken),
  acceptanceWindowMs: {
    name: "ACCEPTANCE_WINDOW_SECONDS",
    text: ({ acceptanceWindowMs }) => String(acceptanceWindowMs / SECOND_MS),
  },
  testOrderLifetimeMs: {
    name: "TEST_ORDER_LIFETIME_SECONDS",
    text: ({ testOrderLifetimeMs }) => String(testOrderLifetimeMs / SECOND_MS),
  },
  selfServiceTestKeys: {
    name: "SELF_SERVICE_TEST_KEYS",
    text: ({ selfServiceTestKeys }) =>
      selfServiceTestKeys === null ? null : toTypeId("con", selfServiceTestKeys),
  },
  rateLimitPerMinute: {
    name: "RATE_LIMIT_PER_MINUTE",
    text: ({ rateLimitPerMinute }) => String(rateLimitPerMinute),
  },
  backOfficeRateLimitPerMinute: {
    name: "BACK_OFFICE_RATE_LIMIT_PER_MINUTE",
    text: ({ backOfficeRateLimitPerMinute }) => String(backOfficeRateLimitPerMinute),
  },
  reviewOrderValuesMinor: {
    name: "REVIEW_ORDER_VALUES",
    text: ({ reviewOrderValuesMinor }) => amounts(reviewOrderValuesMinor),
  },
  reviewOrderQuantity: {
    name: "REVIEW_ORDER_QUANTITY",
    text: ({ reviewOrderQuantity }) => String(reviewOrderQuantity ?? 0),
  },
  alertOrderValuesMinor: {
    name: "ALERT_ORDER_VALUES",
    text: ({ alertOrderValuesMinor }) => amounts(alertOrderValuesMinor),
  },
  creditLimitsMinor: {
    name: "CREDIT_LIMITS",
    text: ({ creditLimitsMinor }) => amounts(creditLimitsMinor),
  },
  webhookTimeoutMs: {
    name: "WEBHOOK_TIMEOUT_MS",
    text: ({ webhookTimeoutMs }) => String(webhookTimeoutMs),
  },
  webhookRetryMs: { name: "WEBHOOK_RETRY_SECONDS", text: ({ webhookRetryMs }) => list(webhookRetryMs) },
  webhookTestRetryMs: {
    name: "WEBHOOK_TEST_RETRY_SECONDS",
    text: ({ webhookTestRetryMs }) => list(webhookTestRetryMs),
  },
  webhookSources: {
    name: "WEBHOOK_SOURCES",
    text: ({ webhookSources }) => webhookSources?.join() ?? null,
  },
  webhookSourcesNext: {
    name: "WEBHOOK_SOURCES_NEXT",
    text: ({ webhookSourcesNext: next }) =>
      next === null ? null : `${next.at.toISOString()} ${next.addresses.join()}`,
  },
  webhookAllowPrivateNetworks: {
    name: "WEBHOOK_ALLOW_PRIVATE_NETWORKS",
    text: ({ webhookAllowPrivateNetworks }) => String(webhookAllowPrivateNetworks),
  },
  webhookSecretKeys: secret("WEBHOOK_SECRET_KEYS", ({ webhookSecretKeys }) => webhookSecretKeys),
  paymentRetryMs: { name: "PAYMENT_RETRY_SECONDS", text: ({ paymentRetryMs }) => list(paymentRetryMs) },
  personalDataMs: {
    name: "PERSONAL_DATA_DAYS",
    text: ({ personalDataMs }) => String((personalDataMs ?? 0) / DAY_MS),
  },
  auditRetentionMs: {
    name: "AUDIT_RETENTION_DAYS",
    text: ({ auditRetentionMs }) => String(auditRetentionMs / DAY_MS),
  },
  stripeSecretKey: secret("STRIPE_SECRET_KEY", ({ stripeSecretKey }) => stripeSecretKey),
  stripeWebhookSecret: secret("STRIPE_WEBHOOK_SECRET", ({ stripeWebhookSecret }) => stripeWebhookSecret),
  stripeApiUrl: { name: "STRIPE_API_URL", text: ({ stripeApiUrl }) => plainAddress(stripeApiUrl) },
  smtpUrl: { name: "SMTP_URL", text: ({ smtpUrl }) => plainAddress(smtpUrl) },
  mailFrom: { name: "MAIL_FROM", text: ({ mailFrom }) => mailFrom },
  logLevel: { name: "LOG_LEVEL", text: ({ logLevel }) => logLevel },
  shutdownDelayMs: { name: "SHUTDOWN_DELAY_MS", text: ({ shutdownDelayMs }) => String(shutdownDelayMs) },
  requestLogSample: {
    name: "REQUEST_LOG_SAMPLE",
    text: ({ requestLogSample }) => String(requestLogSample),
  },
};

/** The settings of a process, without secrets. */
export function settingsOf(config: Config): Setting[] {
  const defaults = readConfig({});
  return Object.values(ROWS).map((row) => {
    const text = row.text(config);
    const isSecret = row.isSecret ?? false;
    return {
      name: row.name,
      value: isSecret ? null : text,
      default: row.text(defaults),
      unit: unitOf(row.name),
      isSecret,
      isSet: text !== null,
    };
  });
}

function unitOf(name: string): Setting["unit"] {
  if (name.endsWith("_SECONDS")) return "seconds";
  if (name.endsWith("_MS")) return "milliseconds";
  if (name.endsWith("_DAYS")) return "days";
  return name.endsWith("_PER_MINUTE") ? "requests per minute" : null;
}

/** The address of each server. */
const databaseAddress = (url: string | null): string | null =>
  url === null ? null : serverUrls(url).map(plainAddress).join();

/** An address without user, password and query, in which there can be secrets. */
function plainAddress(address: string | null): string | null {
  if (address === null) return null;
  const { protocol, host, pathname } = new URL(address);
  return `${protocol}//${host}${pathname.replace(/\/+$/, "")}`;
}

type QueueState = Backlog & { readonly name: string };

export type SystemState = {
  readonly readAt: Date;
  readonly queues: readonly QueueState[];
  readonly processes: readonly Process[];
  readonly jobs: readonly JobSummary[];
  /** Null: it could not be read in time. */
  readonly database: DatabaseFigures | null;
  /** The parts that could not be read in time. */
  readonly unreadable: readonly string[];
};

export type Examination = { readonly checkedAt: Date; readonly findings: readonly Finding[] };

/** The state of the whole service. Callers at the same time share one read of each part. */
export type SystemReader = {
  read(): Promise<SystemState>;
  readWorkers(): Promise<Workers>;
  examine(): Promise<Examination>;
};

/** A part that takes longer is left out of the response. The read continues, and later callers wait for the same one. */
const PART_MS = 2 * SECOND_MS;
/** Many checks, one after the other. */
const CHECKS_MS = 10 * SECOND_MS;

/**
 * Reads the state of the service over all of its processes (docs/design/database.md, "Processes report themselves").
 * @param context its database is that of health, whose few connections nothing else waits for
 */
export function systemReader({ db, clock, config }: Pick<Context, "db" | "clock" | "config">): SystemReader {
  const part = <T>(read: () => Promise<T>): (() => Promise<T | null>) => {
    const shared = sharedWhileRunning(read);
    return () => within(PART_MS, shared()).catch(() => null);
  };
  const queues = QUEUES.map(({ name, read }) => ({ name, read: part(() => read(db, clock.now())) }));
  const readProcesses = part(async () => {
    const processes = await listProcesses(db, PROCESSES_SHOWN_MAX, clock.now());
    const live = processes.filter(({ status }) => status === "running").map(({ id }) => id);
    return { processes, jobs: sumUpJobs(await listJobRuns(db, live)) };
  });
  const readDatabase = part(() => readDatabaseFigures(db));
  const examineShared = sharedWhileRunning(() => examineDatabase(db, config, clock));

  async function read(): Promise<SystemState> {
    const [processes, database, ...backlogs] = await Promise.all([
      readProcesses(),
      readDatabase(),
      ...queues.map((queue) => queue.read()),
    ]);
    const states = queues.map(({ name }, index) => ({ name, backlog: backlogs[index] ?? null }));
    return {
      readAt: clock.now(),
      queues: states.flatMap(({ name, backlog }) => (backlog === null ? [] : [{ name, ...backlog }])),
      processes: processes?.processes ?? [],
      jobs: processes?.jobs ?? [],
      database,
      unreadable: [
        ...(processes === null ? ["processes"] : []),
        ...(database === null ? ["database"] : []),
        ...states.filter(({ backlog }) => backlog === null).map(({ name }) => name),
      ],
    };
  }

  async function examine(): Promise<Examination> {
    const findings = await within(CHECKS_MS, examineShared()).catch((): Finding[] => [
      { check: "database", ...failed(`the checks took longer than ${CHECKS_MS / SECOND_MS} s`) },
    ]);
    return { checkedAt: clock.now(), findings: [...examineConfig(config), ...findings] };
  }

  return { read, readWorkers: sharedWhileRunning(() => readWorkers(db, clock.now())), examine };
}
