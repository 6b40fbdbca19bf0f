import { describe, expect, it } from "vitest";
import { settingsOf } from "../../../src/operations/system.ts";
import { readConfig } from "../../../src/platform/config.ts";
import { VARIABLES } from "../../support/config-variables.ts";

const settingsWith = (environment: Record<string, string>) =>
  new Map(settingsOf(readConfig(environment)).map((setting) => [setting.name, setting]));

describe("the settings", () => {
  it("are all variables, and are their own defaults without any", () => {
    const settings = settingsWith({});
    expect([...settings.keys()].sort()).toEqual(Object.keys(VARIABLES).sort());
    for (const { value, default: byDefault, isSecret } of settings.values())
      expect(isSecret ? byDefault : value).toBe(byDefault);
  });

  it.each(
    Object.entries(VARIABLES).flatMap(([name, { accepted }]) => accepted.map(([value]) => [name, value])),
  )("of %s=%s can be read again with the same effect", (name = "", value = "") => {
    const shown = settingsWith({ [name]: value }).get(name);
    if (shown?.isSecret || value.includes("secret")) return;
    const environment = shown?.value === null ? {} : { [name]: String(shown?.value) };
    expect(readConfig(environment)).toEqual(readConfig({ [name]: value }));
  });

  it("show no secret, and no password in an address", () => {
    const text = JSON.stringify(
      settingsOf(
        readConfig({
          DATABASE_URL: "postgres://ann:hunter2@db.example:5432/orders?password=hunter2&sslmode=verify-full",
          SMTP_URL: "smtps://ann:hunter2@mail.example:465/?x=hunter2",
          OPERATOR_TOKEN: "hunter2-hunter2-hunter2",
          STRIPE_SECRET_KEY: "sk_hunter2_hunter2",
          STRIPE_WEBHOOK_SECRET: "whsec_hunter2_hunter2",
          WEBHOOK_SECRET_KEYS: Buffer.alloc(32, "hunter2").toString("base64url"),
          BASE_URL: "https://ann:hunter2@orders.example/partner",
        }),
      ),
    );
    expect(text).not.toContain("hunter2");
    expect(text).not.toContain(Buffer.alloc(32, "hunter2").toString("base64url"));
    expect(text).toContain("postgres://db.example:5432/orders");
    expect(text).toContain("smtps://mail.example:465");
  });

  it("have the units of their names", () => {
    const settings = settingsWith({});
    expect(
      ["ACCEPTANCE_WINDOW_SECONDS", "WEBHOOK_TIMEOUT_MS", "AUDIT_RETENTION_DAYS", "PORT"].map(
        (name) => settings.get(name)?.unit,
      ),
    ).toEqual(["seconds", "milliseconds", "days", null]);
  });
});
