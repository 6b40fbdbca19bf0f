import { describe, expect, it, vi } from "vitest";
import { runJob } from "../../support/jobs.ts";
import { createPersonWithCodes, enterPassword, totp } from "../../support/one-time-codes.ts";
import { createPersonWithPassword, PASSWORD } from "../../support/people.ts";
import { dumpTables } from "../../support/tables.ts";
import { startServiceForTest, type TestService } from "../../support/test-service.ts";

const [oldKey, newKey] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];

/** The same database with the old key, in the middle of a rotation, and with the new key alone. */
async function start() {
  const before = await startServiceForTest({ secretKeys: [oldKey] });
  const databaseUrl = before.context.config.databaseUrl ?? "";
  return {
    before,
    rotated: await startServiceForTest({ databaseUrl, secretKeys: [newKey, oldKey] }),
    after: await startServiceForTest({ databaseUrl, secretKeys: [newKey] }),
  };
}

const reseal = (service: TestService, stopping?: AbortSignal) => runJob(service, "reseal-secrets", stopping);

const storedCodes = ({ db }: TestService) =>
  db.query<{ person_id: string; sealed_secret: string }>({
    name: "test-stored-codes",
    text: "select person_id, sealed_secret from person_one_time_codes order by person_id",
    values: [],
  });

/** People with codes that no device knows. */
const makeCodes = async ({ db, context }: TestService, count: number) => {
  await db.runScript(`
    insert into people (id, name, email, created_at, created_by_kind)
    select gen_random_uuid(), 'Copy', 'copy' || n || '@example.com', now(), 'service'
    from generate_series(1, ${count}) n`);
  const people = await db.query<{ id: string }>({
    name: "test-people-without-codes",
    text: "select id from people where name = 'Copy'",
    values: [],
  });
  const sealed = people.map(({ id }) => context.secrets.seal("ABCDEFGH", `one-time codes of ${id}`));
  await db.query({
    name: "test-insert-codes",
    text: `
      insert into person_one_time_codes (person_id, sealed_secret, created_at, confirmed_at)
      select c.person_id, c.sealed, now(), now() from unnest($1::uuid[], $2::text[]) as c (person_id, sealed)`,
    values: [people.map(({ id }) => id), sealed],
  });
};

describe("after a new key was added before the old one", () => {
  it("codes are encrypted again and stay the same, so that the old key can be removed", async () => {
    const { before, rotated, after } = await start();
    const { person, uri, backupCode } = await createPersonWithCodes(before);
    expect(await reseal(rotated)).toBe(1);
    for (const code of [{ code: totp(before, uri) }, backupCode]) {
      const browser = await enterPassword(after, person);
      expect((await browser.post("/auth/sign-in/code", code)).status).toBe(200);
    }
    const tables = await dumpTables(before);
    expect(await reseal(rotated)).toBe(0);
    expect(await dumpTables(before)).toEqual(tables);
  });

  it("more codes than one batch are encrypted in one run, once, also by several workers", async () => {
    const { before, rotated, after } = await start();
    await createPersonWithCodes(before);
    await makeCodes(before, 450);
    const counts = await Promise.all([reseal(rotated), reseal(rotated), reseal(rotated)]);
    expect(counts.reduce((sum, count) => sum + count)).toBe(451);
    expect(await reseal(after)).toBe(0);
  });

  it("a run that is stopped encrypts nothing more", async () => {
    const { before, rotated } = await start();
    await createPersonWithCodes(before);
    const tables = await dumpTables(before);
    expect(await reseal(rotated, AbortSignal.abort())).toBe(0);
    expect(await dumpTables(before)).toEqual(tables);
  });

  it("codes that cannot be decrypted are logged with their person, left unchanged, and stop no others", async () => {
    const { before, rotated } = await start();
    const { person } = await createPersonWithCodes(before);
    await before.db.runScript("update person_one_time_codes set sealed_secret = sealed_secret || '00'");
    await createPersonWithCodes(before);
    const spoilt = async () => (await storedCodes(before)).filter(({ person_id }) => person_id === person.id);
    const codes = await spoilt();
    const log = vi.spyOn(rotated.context.log, "error");
    expect(await reseal(rotated)).toBe(1);
    expect(await spoilt()).toEqual(codes);
    expect(log.mock.calls).toEqual([
      [
        { person: { id: person.id } },
        "one-time codes of a person not decrypted, not encrypted with the newest key",
      ],
    ]);
  });

  it("codes whose setup was not finished are left: their person begins again", async () => {
    const { before, rotated, after } = await start();
    const { browser } = await createPersonWithPassword(before);
    await browser.post("/auth/second-factor", { password: PASSWORD });
    const codes = await storedCodes(before);
    expect(await reseal(rotated)).toBe(0);
    expect(await storedCodes(after)).toEqual(codes);
  });
});
