import { describe, expect, it } from "vitest";
import { productionRisks } from "../../../src/operations/checks.ts";
import { readConfig } from "../../../src/platform/config.ts";
import { runCli } from "../../support/cli.ts";
import { startService } from "../../support/running-service.ts";
import { createDatabase } from "../../support/test-service.ts";

const LOCAL = "postgres://u:p@127.0.0.1/orders";
const checksOf = (environment: Record<string, string>) =>
  productionRisks(readConfig(environment)).map(({ check }) => check);

describe("the risks of a configuration in production", () => {
  it("include the embedded PostgreSQL", () => expect(checksOf({})).toEqual(["embedded PostgreSQL"]));

  it.each([
    LOCAL,
    "postgres://u:p@localhost:5432/orders",
    "postgres://u:p@[::1]/orders",
    "postgres://u:p@db.example/orders?sslmode=verify-full",
    "postgres://u:p@db.example/orders?sslmode=require",
    "postgres://u:p@db.example/orders?host=/var/run/postgresql",
  ])("do not include the database %s", (url) => expect(checksOf({ DATABASE_URL: url })).toEqual([]));

  it.each([
    "postgres://u:p@db.example/orders",
    "postgres://u:p@10.0.0.1/orders?sslmode=disable",
    "postgres://u:p@127.0.0.1.example/orders",
    "postgres://u:p@localhost/orders?host=db.example",
  ])("include the database %s", (url) =>
    expect(checksOf({ DATABASE_URL: url })).toEqual(["connection to the database"]),
  );

  it.each([
    ["smtp://mail.example", []],
    ["smtps://mail.example", []],
    ["smtp://localhost?ignoreTLS=true", []],
    ["smtp://mail.example?ignoreTLS=true", ["connection to the mail server"]],
    ["smtp://mail.example?requireTLS=false", ["connection to the mail server"]],
  ])("of the mail server %s", (url, checks) =>
    expect(checksOf({ DATABASE_URL: LOCAL, SMTP_URL: url })).toEqual(checks),
  );

  it.each([
    [{}, ["addresses of clients"]],
    [{ TRUSTED_PROXIES: "127.0.0.1" }, []],
    [{ ROLES: "api,worker" }, []],
    [{ BACK_OFFICE_URL: "http://localhost:8081" }, []],
  ])("of a back office behind a proxy with %o", (environment, checks) =>
    expect(
      checksOf({ DATABASE_URL: LOCAL, BACK_OFFICE_URL: "https://console.example", ...environment }),
    ).toEqual(checks),
  );

  it("include webhooks to private networks", () =>
    expect(checksOf({ DATABASE_URL: LOCAL, WEBHOOK_ALLOW_PRIVATE_NETWORKS: "true" })).toEqual([
      "destinations of webhooks",
    ]));
});

it("doctor warns of them, and does not fail", async () => {
  const environment = {
    DATABASE_URL: await createDatabase(),
    SMTP_URL: "smtp://mail.example?ignoreTLS=true",
  };
  const { json } = await runCli(environment, ["doctor", "--json"]);
  expect(json().checks).toContainEqual(
    expect.objectContaining({ check: "connection to the mail server", status: "warn" }),
  );
});

it("a production start on the embedded PostgreSQL logs one warning", async () => {
  const { main } = await startService({ DATABASE_URL: "" });
  const warnings = main.log().filter(({ msg }) => msg.startsWith("not for production"));
  expect(warnings).toMatchObject([{ level: "warn", check: "embedded PostgreSQL" }]);
  main.child.kill("SIGTERM");
  expect(await main.exited()).toEqual({ code: 0, signal: null });
});
