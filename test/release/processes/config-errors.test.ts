import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ConfigError } from "../../../src/platform/config.ts";
import { errorsOf, VARIABLES } from "../../support/config-variables.ts";
import { freePort } from "../../support/free-port.ts";
import { isListening, startMain, temporaryFolder } from "../../support/main-process.ts";

/** Root may write to every folder. */
const WITHOUT_RIGHTS_OF_ROOT = "if (process.getuid() === 0) process.setuid(65534);";

/** Wrong in every variable that can be wrong. */
const ALL_WRONG = {
  DATABASE_URL: "mysql://user:database-password@db.example",
  PORT: "http",
  PROCESSES: "0",
  BACK_OFFICE_PORT: "70000",
  BACK_OFFICE_URL: "console.example",
  TRUSTED_PROXIES: "nginx",
  SELF_SERVICE_TEST_KEYS: "10",
  OIDC_ISSUER: "id.example",
  BASE_URL: "orders.example",
  ERRORS_BASE_URL: "docs.example",
  ROLES: "web",
  OPERATOR_TOKEN: "short-token",
  ACCEPTANCE_WINDOW_SECONDS: "0",
  TEST_ORDER_LIFETIME_SECONDS: "two hours",
  AUDIT_RETENTION_DAYS: "0",
  PERSONAL_DATA_DAYS: "-1",
  RATE_LIMIT_PER_MINUTE: "-1",
  BACK_OFFICE_RATE_LIMIT_PER_MINUTE: "-1",
  REVIEW_ORDER_VALUES: "100000",
  REVIEW_ORDER_QUANTITY: "many",
  ALERT_ORDER_VALUES: "EUR",
  CREDIT_LIMITS: "unlimited",
  WEBHOOK_TIMEOUT_MS: "15s",
  WEBHOOK_RETRY_SECONDS: "5,soon",
  WEBHOOK_TEST_RETRY_SECONDS: "-5",
  WEBHOOK_ALLOW_PRIVATE_NETWORKS: "maybe",
  WEBHOOK_SECRET_KEYS: "sealing-key",
  WEBHOOK_SOURCES: "gateway.example",
  WEBHOOK_SOURCES_NEXT: "soon",
  PAYMENT_RETRY_SECONDS: "3600,never",
  STRIPE_SECRET_KEY: "stripe-secret",
  STRIPE_WEBHOOK_SECRET: "stripe-secret",
  STRIPE_API_URL: "api.stripe.com",
  SMTP_URL: "imap://user:mail-password@mail.example",
  MAIL_FROM: "nobody",
  LOG_LEVEL: "loud",
  SHUTDOWN_DELAY_MS: "5s",
  REQUEST_LOG_SAMPLE: "all",
};

/** They are wrong only without the issuer, whose error is reported instead. */
const MISSING = ["OIDC_CLIENT_ID", "OIDC_CLIENT_SECRET"];

describe("several errors", () => {
  it("are reported all at once, one for each variable", () => {
    const errors = errorsOf(ALL_WRONG);
    expect(errors.map((error) => error.split(" ")[0]).sort()).toEqual(Object.keys(ALL_WRONG).sort());
  });

  it("do not repeat the values, which may be secrets", () => {
    const text = new ConfigError(errorsOf(ALL_WRONG)).message;
    expect(text).not.toContain("database-password");
    expect(text).not.toContain("short-token");
    expect(text).not.toContain("sealing-key");
    expect(text).not.toContain("mail-password");
    expect(text).not.toContain("stripe-secret");
  });

  it("cover every variable that can be wrong", () => {
    const canBeWrong = Object.keys(VARIABLES).filter((name) => VARIABLES[name]?.rejected.length !== 0);
    expect([...Object.keys(ALL_WRONG), ...MISSING].sort()).toEqual(canBeWrong.sort());
  });
});

describe("a service with an invalid environment", () => {
  it("does not start: it prints every error on stderr, opens no port, creates no folder, and exits with 1", async () => {
    const dataDir = join(await temporaryFolder(), "data");
    const port = await freePort();
    const { PORT: _, ...wrong } = ALL_WRONG;
    const main = startMain({ ...wrong, PORT: String(port), DATA_DIR: dataDir });
    expect(await main.exited()).toEqual({ code: 1, signal: null });
    for (const error of errorsOf(wrong)) expect(main.errors()).toContain(error);
    expect(main.errors()).toMatch(/^The configuration is invalid:\n/);
    expect(main.errors()).not.toMatch(
      /database-password|short-token|sealing-key|mail-password|stripe-secret|node:internal|\.ts:/,
    );
    expect(main.output()).toBe("");
    expect(await isListening(`http://127.0.0.1:${port}`)).toBe(false);
    expect(existsSync(dataDir)).toBe(false);
  });

  it.each([
    ["that belongs to another user", "/usr"],
    ["in a folder in which the system permits no new one", "/proc/nope"],
    ["in a file", join(import.meta.filename, "data")],
  ])("does not start with a DATA_DIR %s", async (_name, dataDir) => {
    const main = startMain({
      DATA_DIR: dataDir,
      PORT: "0",
      BACK_OFFICE_PORT: "0",
      NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(WITHOUT_RIGHTS_OF_ROOT)}`,
    });
    expect(await main.exited()).toEqual({ code: 1, signal: null });
    expect(main.errors()).toMatch(
      /^The configuration is invalid:\n {2}- DATA_DIR must be a folder that exists or can be created, and that can be written to: E[A-Z]+: .*\.\n$/,
    );
    expect(main.output()).toBe("");
  });

  // Each variable alone is read as above. Here it is enough that one error prevents the start.
  it("does not start with a single error either", async () => {
    const wrong = { LOG_LEVEL: "loud" };
    const main = startMain({ ...wrong, DATA_DIR: join(await temporaryFolder(), "data") });
    expect(await main.exited()).toEqual({ code: 1, signal: null });
    expect(main.errors()).toBe(`${new ConfigError(errorsOf(wrong)).message}\n`);
  });
});
