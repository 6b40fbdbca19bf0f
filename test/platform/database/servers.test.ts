import { expect, it, onTestFinished, vi } from "vitest";
import { isOutOfReach, isUnavailable, openDatabase } from "../../../src/platform/database/database.ts";
import { startDatabaseProxy } from "../../support/database-proxy.ts";
import { createDatabase } from "../../support/test-service.ts";

/** A way to the same database over each of two addresses, and one address that names both. */
async function twoServers() {
  const url = await createDatabase();
  const [one, two] = [await startDatabaseProxy(url), await startDatabaseProxy(url)];
  onTestFinished(async () => {
    await one.close();
    await two.close();
  });
  const second = new URL(two.url).host;
  const address = one.url.replace(/^(\w+:\/\/[^/]*)/, `$1,${second}`);
  return { url, one, two, address };
}

function open(url: string) {
  const db = openDatabase({ url, connectionsMax: 2, onIdleError: () => undefined });
  onTestFinished(() => db.close());
  const select = () => db.query<{ one: number }>({ name: "one", text: "select 1 as one", values: [] });
  return { db, select };
}

it("the server that can be reached is used, and the other one when that one is lost", async () => {
  const { one, two, address } = await twoServers();
  await one.cut();
  const { select } = open(address);
  expect(await select()).toEqual([{ one: 1 }]);
  await one.restore();
  await two.cut();
  // The lost connection and the server that was found before fail once each, as an unavailable database.
  const answers = await vi.waitFor(
    async () => {
      const failed = await select().catch((error: unknown) => error);
      if (failed instanceof Error && !isOutOfReach(failed)) throw failed;
      expect(failed).toEqual([{ one: 1 }]);
      return failed;
    },
    { timeout: 20_000, interval: 20 },
  );
  expect(answers).toEqual([{ one: 1 }]);
  await one.cut();
  await expect(select()).rejects.toSatisfy(isUnavailable);
});

it("a server that hangs does not keep the other one from being used", async () => {
  const { one, address } = await twoServers();
  one.hang();
  expect(await open(address).select()).toEqual([{ one: 1 }]);
});

it("a server that accepts no writes is not used until it does", async () => {
  const { url, address } = await twoServers();
  const { db } = open(url);
  const name = new URL(url).pathname.slice(1);
  await db.runScript(`alter database ${name} set default_transaction_read_only = on`);
  for (const readOnly of [url, address]) {
    const { select } = open(readOnly);
    const error = await select().catch((thrown: unknown) => thrown);
    expect(error).toSatisfy(isUnavailable);
    expect(error).toSatisfy(isOutOfReach);
    expect(String(error)).toMatch(/accepts? (no )?writes/);
  }
  await db.runScript(
    `set default_transaction_read_only = off; alter database ${name} reset default_transaction_read_only`,
  );
  expect(await open(address).select()).toEqual([{ one: 1 }]);
});
