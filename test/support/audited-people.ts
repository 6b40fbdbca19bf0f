import { toTypeId } from "../../src/platform/ids.ts";
import type { AuditedWorld, ChangeRequest } from "./audited-changes.ts";
import { createPerson, createPersonWithPassword, linkAccount, signIn } from "./people.ts";

const SUPPORT = { name: "Sam Support", grants: [{ role: "support" }] };

async function aPersonsPath({ test }: AuditedWorld, step?: string): Promise<string> {
  const email = `${test.context.newId()}@example.com`;
  const { id } = (await test.backOffice.post("/api/people", { ...SUPPORT, email })).body;
  return `/api/people/${id}${step === undefined ? "" : `/${step}`}`;
}

/** By the id of an operation, a request of it that changes a person. */
export const peopleChanges = (
  world: AuditedWorld,
): Record<string, () => ChangeRequest | Promise<ChangeRequest>> => ({
  invitePerson: () => ["POST", "/api/people", { ...SUPPORT, email: "invited@example.com" }],
  updatePerson: async () => ["PATCH", await aPersonsPath(world), { name: "Renamed" }],
  setGrants: async () => ["PUT", await aPersonsPath(world, "grants"), { grants: [{ role: "operator" }] }],
  resendInvitation: async () => ["POST", await aPersonsPath(world, "resend-invitation")],
  disablePerson: async () => ["POST", await aPersonsPath(world, "disable")],
  enablePerson: async () => {
    const path = await aPersonsPath(world);
    await world.test.backOffice.post(`${path}/disable`);
    return ["POST", `${path}/enable`];
  },
  endSessions: async () => {
    const person = await createPerson(world.test);
    await signIn(world.test, person);
    return ["POST", `/api/people/${toTypeId("per", person.id)}/end-sessions`];
  },
  unlinkSingleSignOn: async () => {
    const { test } = world;
    const { id } = await createPerson(test);
    await linkAccount(test, id);
    return ["POST", `/api/people/${toTypeId("per", id)}/unlink-single-sign-on`];
  },
  removeSignInMethods: async () => {
    const { test } = world;
    const { person } = await createPersonWithPassword(test);
    return ["POST", `/api/people/${toTypeId("per", person.id)}/remove-sign-in-methods`];
  },
  makeSignInLink: async () => ["POST", await aPersonsPath(world, "sign-in-link")],
});
