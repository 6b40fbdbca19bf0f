import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { type Config, ConfigError, readConfig } from "../src/config.ts";
import { freePort, isListening, startMain, temporaryFolder } from "./support/main-process.ts";

/** The faults that an environment is refused with. */
function faultsOf(environment: Record<string, string>): readonly string[] {
  try {
    readConfig(environment);
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    return (error as ConfigError).faults;
  }
  return [];
}

/** Exactly one fault, about this variable. */
function expectFault(name: string, value: string): void {
  const faults = faultsOf({ [name]: value });
  expect(faults, `${name}=${value}`).toHaveLength(1);
  expect(faults[0]).toMatch(new RegExp(`^${name} must .*\\.$`));
}

describe("the configuration without any variable", () => {
  it("runs everything on this machine, with the specification's limits", () => {
    expect(readConfig({})).toEqual({
      databaseUrl: null,
      dataDir: resolve(".data"),
      host: "127.0.0.1",
      port: 8080,
      backOfficePort: 8081,
      baseUrl: "http://localhost:8080",
      errorsBaseUrl: "http://localhost:8081/errors",
      roles: new Set(["api", "back-office", "worker"]),
      operatorToken: null,
      acceptanceWindowMs: 7_200_000,
      testOrderLifetimeMs: 7_200_000,
      rateLimitPerMinute: 600,
      webhookTimeoutMs: 15_000,
      webhookRetryMs: [5, 30, 120, 600, 1_800, 3_600, 7_200, 14_400, 28_800, 43_200, 57_600, 86_400].map(
        (seconds) => 1_000 * seconds,
      ),
      webhookTestRetryMs: [5_000, 30_000, 120_000, 600_000, 1_800_000],
      webhookAllowPrivateNetworks: false,
      webhookSecretKeys: null,
      paymentRetryMs: [1, 6, 24, 48, 72].map((hours) => 3_600_000 * hours),
      stripeSecretKey: null,
      stripeWebhookSecret: null,
      stripeApiUrl: "https://api.stripe.com",
      smtpUrl: null,
      mailFrom: "partner-orders@localhost",
      logLevel: "info",
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

/** Every variable: values that are taken, with what they become, and values that are refused. */
const VARIABLES: Record<string, { taken: [value: string, becomes: Partial<Config>][]; refused: string[] }> = {
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

describe.each(Object.entries(VARIABLES))("%s", (name, { taken, refused }) => {
  it.each(taken)("takes %j", (value, becomes) => {
    expect(readConfig({ [name]: value })).toEqual({ ...readConfig({}), ...becomes });
  });

  it("is trimmed, and counts as absent when it is empty", () => {
    for (const empty of ["", "  ", "\t"]) expect(readConfig({ [name]: empty })).toEqual(readConfig({}));
    const [value = "", becomes = {}] = taken[0] ?? [];
    expect(readConfig({ [name]: ` ${value} ` })).toEqual({ ...readConfig({}), ...becomes });
  });

  it.each(refused)("refuses %j with one fault that names it", (value) => {
    expectFault(name, value);
  });
});

describe("the two ports", () => {
  it("must differ, also from the other's default", () => {
    expect(faultsOf({ PORT: "9000", BACK_OFFICE_PORT: "9000" })).toEqual([
      "BACK_OFFICE_PORT must differ from PORT.",
    ]);
    expect(faultsOf({ PORT: "8081" })).toHaveLength(1);
    expect(faultsOf({ PORT: "8081", BACK_OFFICE_PORT: "8082" })).toEqual([]);
  });

  it("may both be 0: the machine chooses", () => {
    expect(readConfig({ PORT: "0", BACK_OFFICE_PORT: "0" })).toMatchObject({ port: 0, backOfficePort: 0 });
  });
});

/** Wrong in every variable that can be wrong. */
const ALL_WRONG = {
  DATABASE_URL: "mysql://user:database-password@db.example",
  PORT: "http",
  BACK_OFFICE_PORT: "70000",
  BASE_URL: "orders.example",
  ERRORS_BASE_URL: "docs.example",
  ROLES: "web",
  OPERATOR_TOKEN: "short-token",
  ACCEPTANCE_WINDOW_SECONDS: "0",
  TEST_ORDER_LIFETIME_SECONDS: "two hours",
  RATE_LIMIT_PER_MINUTE: "-1",
  WEBHOOK_TIMEOUT_MS: "15s",
  WEBHOOK_RETRY_SECONDS: "5,soon",
  WEBHOOK_TEST_RETRY_SECONDS: "-5",
  WEBHOOK_ALLOW_PRIVATE_NETWORKS: "maybe",
  WEBHOOK_SECRET_KEYS: "sealing-key",
  PAYMENT_RETRY_SECONDS: "3600,never",
  STRIPE_SECRET_KEY: "stripe-secret",
  STRIPE_WEBHOOK_SECRET: "stripe-secret",
  STRIPE_API_URL: "api.stripe.com",
  SMTP_URL: "imap://user:mail-password@mail.example",
  MAIL_FROM: "nobody",
  LOG_LEVEL: "loud",
};

describe("several faults", () => {
  it("are told all at once, one for each variable", () => {
    const faults = faultsOf(ALL_WRONG);
    expect(faults.map((fault) => fault.split(" ")[0]).sort()).toEqual(Object.keys(ALL_WRONG).sort());
  });

  it("do not repeat the values, which may be secrets", () => {
    const text = new ConfigError(faultsOf(ALL_WRONG)).message;
    expect(text).not.toContain("database-password");
    expect(text).not.toContain("short-token");
    expect(text).not.toContain("sealing-key");
    expect(text).not.toContain("mail-password");
    expect(text).not.toContain("stripe-secret");
  });

  it("cover every variable that can be wrong", () => {
    const canBeWrong = Object.keys(VARIABLES).filter((name) => VARIABLES[name]?.refused.length !== 0);
    expect(Object.keys(ALL_WRONG).sort()).toEqual(canBeWrong.sort());
  });
});

describe(".env.example", () => {
  const text = readFileSync(".env.example", "utf8");
  const documented = Object.fromEntries(
    [...text.matchAll(/^([A-Z_]+)=(.*)$/gm)].map(([, name = "", value = ""]) => [name, value]),
  );

  /** The variables that the code asks for. */
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

  it("holds the defaults", () => {
    expect(readConfig(documented)).toEqual(readConfig({}));
  });

  it("explains each variable in the lines above it", () => {
    for (const name of Object.keys(documented))
      expect(text, name).toMatch(new RegExp(`^# .+\\n${name}=`, "m"));
  });
});

describe("the environment", () => {
  it("is read by src/config.ts alone; others only hand it on, to it and to PostgreSQL's programs", () => {
    const readers = readdirSync("src", { recursive: true, encoding: "utf8" })
      .filter(
        (file) => file.endsWith(".ts") && readFileSync(join("src", file), "utf8").includes("process.env"),
      )
      .sort();
    expect(readers).toEqual(["cli/main.ts", "database/postgres-cluster.ts", "main.ts"]);
  });
});

describe("a service with a fault in its environment", () => {
  it("does not start: it tells every fault on stderr, opens no port, makes no folder, and exits with 1", async () => {
    const dataDir = join(await temporaryFolder(), "data");
    const port = await freePort();
    const { PORT: _, ...wrong } = ALL_WRONG;
    const main = startMain({ ...wrong, PORT: String(port), DATA_DIR: dataDir });
    expect(await main.exited()).toEqual({ code: 1, signal: null });
    for (const fault of faultsOf(wrong)) expect(main.errors()).toContain(fault);
    expect(main.errors()).toMatch(/^The configuration cannot be used:\n/);
    expect(main.errors()).not.toMatch(
      /database-password|short-token|sealing-key|mail-password|stripe-secret|node:internal|\.ts:/,
    );
    expect(main.output()).toBe("");
    expect(await isListening(`http://127.0.0.1:${port}`)).toBe(false);
    expect(existsSync(dataDir)).toBe(false);
  });

  // Each variable alone is read as above; here it is enough that one fault keeps the process from starting.
  it("does not start with one fault alone either", async () => {
    const wrong = { LOG_LEVEL: "loud" };
    const main = startMain({ ...wrong, DATA_DIR: join(await temporaryFolder(), "data") });
    expect(await main.exited()).toEqual({ code: 1, signal: null });
    expect(main.errors()).toBe(`${new ConfigError(faultsOf(wrong)).message}\n`);
  });
});
