import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { deleteLinks, type LinkKind } from "../../../src/people/links.ts";
import { lockPerson, recordSignIn } from "../../../src/people/people-sql.ts";
import type { Person } from "../../../src/people/person.ts";
import { untilBlocked } from "../../support/blocked.ts";
import { createPerson, linkToken, openBrowser, PASSWORD, signIn } from "../../support/people.ts";
import { countRowsNaming } from "../../support/tables.ts";
import { startTestService, type TestService } from "../../support/test-service.ts";

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.close());

/** The status of a sign-in with a link, or of a reset with one. */
async function use(kind: LinkKind, token: string): Promise<number> {
  const [path, body] =
    kind === "reset"
      ? ["/auth/reset/password", { token, password: PASSWORD }]
      : ["/auth/sign-in/link", { token }];
  return (await openBrowser(service).post(path, body)).status;
}

describe("a link that was not used", () => {
  const ALL: readonly LinkKind[] = ["invitation", "sign-in", "reset"];
  /** Makes a link of each kind, and returns what their uses return after something has happened. */
  async function after(
    person: Person,
    kinds: readonly LinkKind[],
    happens: () => Promise<{ status: number }>,
  ) {
    const tokens = await Promise.all(kinds.map((kind) => linkToken(service, person, kind)));
    expect((await happens()).status).toBeLessThan(300);
    const statuses = [];
    for (const [index, kind] of kinds.entries()) statuses.push(await use(kind, tokens[index] ?? ""));
    return statuses;
  }

  it("ends with a sign-in, if it is an invitation", async () => {
    const person = await createPerson(service);
    const browser = openBrowser(service);
    const token = await linkToken(service, person, "sign-in");
    const signsIn = () => browser.post("/auth/sign-in/link", { token });
    expect(await after(person, ["invitation", "reset"], signsIn)).toEqual([401, 204]);
  });

  it("ends when the person sets a password", async () => {
    const person = await createPerson(service);
    const browser = await signIn(service, person);
    const sets = () => browser.post("/auth/password", { password: PASSWORD });
    expect(await after(person, ALL, sets)).toEqual([401, 401, 401]);
  });

  it("ends when the password is reset by mail", async () => {
    const person = await createPerson(service);
    const token = await linkToken(service, person, "reset");
    const resets = () => openBrowser(service).post("/auth/reset/password", { token, password: PASSWORD });
    expect(await after(person, ["invitation", "sign-in"], resets)).toEqual([401, 401]);
  });

  it("ends when the operator signs the person out everywhere", async () => {
    const person = await createPerson(service);
    const path = `/api/people/${person.email}/end-sessions`;
    expect(await after(person, ALL, () => service.backOffice.post(path))).toEqual([401, 401, 401]);
    expect((await service.backOffice.post(path)).status).toBe(200);
    const { data } = (await service.backOffice.get("/api/audit-entries?action=endSessions")).body;
    expect(data).toHaveLength(1);
    expect(data[0].details).toMatchObject({ email: person.email, sessionsEnded: "0", linksEnded: "3" });
  });

  it("ends when the mail address changes, and not when the name does", async () => {
    const person = await createPerson(service);
    const patch = (path: string, body: object) => () => service.backOffice.request("PATCH", path, { body });
    const email = `new-${person.email}`;
    const ends = patch(`/api/people/${person.email}`, { email });
    expect(await after(person, ALL, ends)).toEqual([401, 401, 401]);
    const leaves = patch(`/api/people/${email}`, { name: "Renamed" });
    expect(await after(person, ["sign-in"], leaves)).toEqual([200]);
  });

  it("stays if it is of another person, or of the demo", async () => {
    const person = await createPerson(service);
    const other = await linkToken(service, await createPerson(service), "invitation");
    const ends = () => service.backOffice.post(`/api/people/${person.email}/end-sessions`);
    expect(await after(person, ["demo"], ends)).toEqual([200]);
    expect(await use("invitation", other)).toBe(200);
  });
});

it("an invitation is not sent again while the person accepts the earlier one", async () => {
  const person = await createPerson(service);
  const { resent } = await service.db.transaction(async (tx) => {
    await lockPerson(tx, person.id);
    await recordSignIn(tx, person.id, service.clock.now());
    await deleteLinks(tx, person.id, ["invitation"], service.clock.now());
    const request = service.backOffice.post(`/api/people/${person.email}/resend-invitation`);
    await untilBlocked(service, 1);
    return { resent: request };
  });
  expect(await resent).toMatchObject({ status: 409, body: { state: "active" } });
  expect(await countRowsNaming(service, person.id)).not.toHaveProperty("person_links");
});
