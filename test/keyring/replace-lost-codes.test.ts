import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { toTypeId } from "../../src/platform/ids.ts";
import { createSecretBox } from "../../src/platform/secret-box.ts";
import { createPartner } from "../support/builders.ts";
import { runCli } from "../support/cli.ts";
import { storeEndpoint } from "../support/dispatch.ts";
import { temporaryFolder } from "../support/main-process.ts";
import { createPersonWithCodes, enterPassword, passCodes, totp } from "../support/one-time-codes.ts";
import { createPersonWithPassword, openBrowser, PASSWORD } from "../support/people.ts";
import { dumpTables } from "../support/tables.ts";
import { startServiceForTest, type TestService } from "../support/test-service.ts";

const [lostKey, newKey] = [randomBytes(32), randomBytes(32)];
const lostKeyId = createSecretBox([lostKey]).keyId;

/** The same database with the key that was lost, with a new one, and a command line with the latter. */
async function start() {
  const before = await startServiceForTest({ secretKeys: [lostKey] });
  const databaseUrl = before.context.config.databaseUrl ?? "";
  const after = await startServiceForTest({ databaseUrl, secretKeys: [newKey] });
  const environment = { DATABASE_URL: databaseUrl, WEBHOOK_SECRET_KEYS: newKey.toString("base64") };
  const replace = (others: Record<string, string> = {}, keyId = lostKeyId) =>
    runCli({ ...environment, ...others }, ["replace-lost-secrets", "--key", keyId]);
  return { before, after, environment, replace };
}

const deleted = (whose: string) =>
  `Deleted the one-time codes of ${whose}, which stay required: make a link for each (person link), who then removes the codes and sets them up again.\n`;

const codesOf = async ({ db }: TestService) =>
  (
    await db.query<{ person_id: string }>({
      name: "test-people-with-codes",
      text: "select person_id from person_two_factors order by person_id",
      values: [],
    })
  ).map((row) => row.person_id);

describe("replace-lost-secrets", () => {
  it("lets the only operator in with a link of the command line, and not with the password alone", async () => {
    const { before, after, environment, replace } = await start();
    const { person, uri } = await createPersonWithCodes(before);
    expect(await replace()).toMatchObject({ code: 0, errors: "", output: deleted("1 person") });

    const browser = await enterPassword(after, person);
    expect(await browser.post("/auth/sign-in/code", { code: totp(uri) })).toMatchObject({
      status: 409,
      body: { state: "codes-lost" },
    });
    const made = await runCli(environment, ["person", "link", person.email, "--json"]);
    // The command line goes by the machine's clock, which is ahead of the test's: the link is valid for both.
    const token = String(made.json().url).split("#token=")[1];
    const own = openBrowser(after);
    expect((await own.post("/auth/sign-in/link", { token })).status).toBe(200);
    const password = { password: PASSWORD };
    expect((await own.post("/auth/second-factor/remove", password)).status).toBe(204);
    const set = (await own.post("/auth/second-factor", password)).body;
    expect((await own.post("/auth/second-factor/verify", { code: totp(set.uri) })).status).toBe(204);
    await passCodes(after);
    const other = await enterPassword(after, person);
    expect((await other.post("/auth/sign-in/code", { code: totp(set.uri) })).status).toBe(200);
  });

  it("names each person in the audit log, and changes no codes of another key", async () => {
    const { before, after, replace } = await start();
    const lost = [await createPersonWithCodes(before), await createPersonWithCodes(before)];
    const kept = await createPersonWithCodes(after);
    const { person: unfinished, browser } = await createPersonWithPassword(before);
    await browser.post("/auth/second-factor", { password: PASSWORD });
    expect((await replace()).output).toBe(deleted("2 people"));

    expect(await codesOf(after)).toEqual([kept.person.id, unfinished.id].sort());
    const { body } = await after.backOffice.get("/api/audit-entries?action=replaceLostSecrets");
    expect(body.data).toHaveLength(2);
    for (const { person } of lost)
      expect(body.data).toContainEqual(
        expect.objectContaining({
          actor: expect.objectContaining({ kind: "operator" }),
          subjectIds: [toTypeId("per", person.id)],
          details: expect.objectContaining({ lostKeyId }),
        }),
      );
    const other = await enterPassword(after, kept.person);
    expect((await other.post("/auth/sign-in/code", { code: totp(kept.uri) })).status).toBe(200);
  });

  it("replaces endpoints and codes together, once, and then a start needs the key no more", async () => {
    const { before, after, environment, replace } = await start();
    await createPersonWithCodes(before);
    await storeEndpoint(before, await createPartner(before), { url: "http://127.0.0.1:9/" });
    const commands = () => runCli(environment, ["merchant", "list"]);
    expect((await commands()).code).toBe(2);
    expect((await replace()).output).toBe(
      `Paused 1 endpoint with a new secret: their partners rotate the secret and resume.\n${deleted("1 person")}`,
    );
    expect((await commands()).code).toBe(0);
    const tables = await dumpTables(after);
    expect((await replace()).output).toBe(`Nothing is encrypted with the key ${lostKeyId}.\n`);
    expect(await dumpTables(after)).toEqual(tables);
  });

  it("changes no codes for a key that is configured, or that no codes have", async () => {
    const { before, replace } = await start();
    const { person } = await createPersonWithCodes(before);
    const both = [newKey, lostKey].map((key) => key.toString("base64")).join(",");
    expect((await replace({ WEBHOOK_SECRET_KEYS: both })).code).toBe(2);
    expect((await replace({}, "00000000")).output).toBe("Nothing is encrypted with the key 00000000.\n");
    for (const wrong of ["", "%", "0000000g", lostKeyId.slice(1), `${lostKeyId}0`, ` ${lostKeyId}`])
      expect(await replace({}, wrong)).toMatchObject({
        code: 2,
        errors: expect.stringContaining("It must have 8 digits from 0 to f, such as 8a08c2f0."),
      });
    expect(await codesOf(before)).toEqual([person.id]);
  });

  it("makes a new file in place of a lost one that only codes need, for the named key alone", async () => {
    const { before, replace } = await start();
    await createPersonWithCodes(before);
    const dataDir = join(await temporaryFolder(), "data");
    const kept = { DATA_DIR: dataDir, WEBHOOK_SECRET_KEYS: "" };
    expect(await replace(kept, "00000000")).toMatchObject({
      code: 2,
      errors: expect.stringContaining(`is missing: the key ${lostKeyId}`),
    });
    expect((await replace(kept)).output).toBe(deleted("1 person"));
  });
});
