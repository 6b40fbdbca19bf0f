import { randomUUID } from "node:crypto";
import { readdir } from "node:fs/promises";
import { expect, it, onTestFinished } from "vitest";
import { commandsOnCitus } from "../../../src/distribution/commands-on-citus.ts";
import { openDatabase, type Pool } from "../../../src/platform/database/database.ts";
import { migrate, pendingMigrations } from "../../../src/platform/database/migrate.ts";
import { untilBlocked } from "../../support/blocked.ts";
import { migrateBefore } from "../../support/migrations.ts";
import { createDatabase } from "../../support/test-service.ts";

/** Locks the table, as each change of an order does. */
const CHANGE = {
  name: "test-change-order",
  text: "update orders set note = null where merchant_id = $1",
  values: ["01a1fc93-691a-7dab-a31b-167027d168d6"],
};

function open(url: string): Pool {
  const db = openDatabase({ url, connectionsMax: 5, onIdleError: () => undefined });
  onTestFinished(() => db.close());
  return db;
}

/** A database without the migrations from one of them on. */
async function createOlderDatabase(firstLeftOut: string): Promise<string> {
  const url = new URL(await createDatabase());
  const name = `older_${randomUUID().replaceAll("-", "")}`;
  await open(url.href).runScript(`create database ${name}`);
  url.pathname = `/${name}`;
  await migrateBefore(url.href, (await readdir("migrations")).filter((file) => file >= firstLeftOut).length);
  return url.href;
}

it("a migration that does not get a lock makes room for others, and is applied when it gets the lock", async () => {
  const url = await createOlderDatabase("0091"); // It and later ones lock `orders`.
  const db = open(url);
  const waited = Promise.withResolvers<string>();
  const both = await db.transaction(async (tx) => {
    await tx.query(CHANGE);
    const migrating = migrate(url, waited.resolve, commandsOnCitus);
    expect(await waited.promise).toContain("waited for a lock");
    await db.query(CHANGE);
    return [migrating];
  });
  await Promise.all(both);
  expect(await pendingMigrations(db)).toEqual([]);
});

it("a migration that would wait for a request which waits for it begins again", async () => {
  const url = await createOlderDatabase("0127"); // It locks `people`, and then `person_sessions`.
  const db = open(url);
  const reads = (table: string) => ({ name: `test-${table}`, text: `select from ${table}`, values: [] });
  const waited = Promise.withResolvers<string>();
  const both = await db.transaction(async (tx) => {
    await tx.query(reads("person_sessions"));
    const migrating = migrate(url, waited.resolve, commandsOnCitus);
    await untilBlocked({ db }, 1);
    await tx.query(reads("people"));
    return { migrating };
  });
  await both.migrating;
  expect(await waited.promise).toContain("waited for a lock");
  expect(await pendingMigrations(db)).toEqual([]);
});

it("of several accounts of a provider that a person had, the first stays, and what the others opened ends", async () => {
  const url = await createOlderDatabase("0131");
  const db = open(url);
  await db.runScript(`
    insert into people (id, name, email, email_verified, created_at, updated_at, created_by_kind)
    select ('00000000-0000-0000-0000-00000000000' || n)::uuid, 'P', n || '@example.com', true, now(), now(), 'service'
    from generate_series(1, 2) n;
    insert into person_accounts (id, person_id, provider_id, account_id, created_at, updated_at)
    select gen_random_uuid(), p.id, a.provider, a.account || p.email, a.at::timestamptz, now()
    from people p, (values ('oidc', 'b', '2026-01-01', true), ('oidc', 'a', '2026-01-02', false),
      ('oidc', 'c', '2026-01-03', false), ('credential', 'd', '2026-01-04', true)) a (provider, account, at, of_both)
    where a.of_both or p.email = '1@example.com';
    insert into person_sessions (id, person_id, token, expires_at, created_at, updated_at, signed_in_at, seen_at, authenticated_at)
    select gen_random_uuid(), p.id, p.email, now(), now(), now(), now(), now(), now() from people p`);
  await migrate(url, () => undefined, commandsOnCitus);
  const people = await db.query({
    name: "test-linked-accounts",
    text: `
      select p.email, p.sign_in_version,
             array(select left(a.account_id, 1) from person_accounts a where a.person_id = p.id order by 1) as accounts,
             (select count(*)::integer from person_sessions s where s.person_id = p.id) as sessions
      from people p
      where p.email like '_@example.com'
      order by p.email`,
    values: [],
  });
  expect(people).toEqual([
    { email: "1@example.com", sign_in_version: 1, accounts: ["b", "d"], sessions: 0 },
    { email: "2@example.com", sign_in_version: 0, accounts: ["b", "d"], sessions: 1 },
  ]);
});
