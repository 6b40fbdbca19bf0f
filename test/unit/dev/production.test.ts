import { describe, expect, it } from "vitest";
import { productionReason } from "../../../packages/dev/src/production.ts";

describe("the service for tests does not start in production", () => {
  it.each([
    ["NODE_ENV is production", { NODE_ENV: "production" }, [true, true]],
    ["a deployment of the service has its keys there", { WEBHOOK_SECRET_KEYS: "k" }, [true, true]],
    ["a deployment of the service has its token there", { OPERATOR_TOKEN: "t" }, [true, true]],
    ["a person expects the database to be used", { DATABASE_URL: "postgres://db" }, [true, false]],
    ["a person expects that cards are charged", { STRIPE_SECRET_KEY: "sk_live_1" }, [true, false]],
    ["a variable is empty", { DATABASE_URL: " ", OPERATOR_TOKEN: "" }, [false, false]],
    ["only the program under test has settings", { PORT: "3000", NODE_ENV: "test" }, [false, false]],
  ])("%s: as a command, and in a test", (_what, environment, [command, test]) => {
    expect(productionReason(environment, true) !== null).toBe(command);
    expect(productionReason(environment, false) !== null).toBe(test);
  });

  it("names what is set, and how to start without it", () => {
    const reason = productionReason({ DATABASE_URL: "postgres://u:secret@db", OPERATOR_TOKEN: "t" }, true);
    expect(reason).toMatch(/^OPERATOR_TOKEN, DATABASE_URL are set\. .*Nothing was started\./);
    expect(reason).toMatch(/: env -u OPERATOR_TOKEN -u DATABASE_URL npx @partner-orders\/dev\.$/);
    expect(reason).not.toContain("secret");
  });
});
