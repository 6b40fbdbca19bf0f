import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { lockPeople } from "../../../src/people/people-sql.ts";
import type { Person } from "../../../src/people/person.ts";
import { lockTokens } from "../../../src/people/tokens-sql.ts";
import { fromTypeId, toTypeId } from "../../../src/platform/ids.ts";
import { untilBlocked } from "../../support/blocked.ts";
import { createPartner, type Partner } from "../../support/builders.ts";
import { createPerson, signIn } from "../../support/people.ts";
import { type Answer, startTestService, type TestService } from "../../support/test-service.ts";
import { uuidIn } from "../../support/webhooks.ts";

let service: TestService;
let partner: Partner;
beforeAll(async () => {
  service = await startTestService();
  partner = await createPartner(service);
});
afterAll(() => service.close());

const merchantGrant = () => ({ role: "merchant", merchantIds: [partner.merchantId] });
const aMerchantsPerson = (): Promise<Person> =>
  createPerson(service, { grants: [{ role: "merchant", merchantIds: [uuidIn("mer", partner.merchantId)] }] });

let counter = 0;
const anInvitation = () => {
  counter += 1;
  return { name: `Guest ${counter}`, email: `guest${counter}@example.com`, grants: [merchantGrant()] };
};

describe("rights that are taken away at the same time", () => {
  /** Takes the rights of a person or token away, while requests of it wait. */
  async function takeAway(text: string, id: string, send: () => Promise<Answer>[]): Promise<Answer[]> {
    let sent: Promise<Answer>[] = [];
    await service.db.transaction(async (tx) => {
      await lockPeople(tx);
      await lockTokens(tx);
      sent = send();
      await untilBlocked(service, Math.min(sent.length, 2)); // A merchant has that many turns at once.
      await tx.query({ name: `test-${text.slice(0, 30)}`, text, values: [id] }); // A session knows one text by a name.
    });
    return Promise.all(sent);
  }
  const count = async (table: string): Promise<number> =>
    (await service.db.query({ name: `test-all-${table}`, text: `select from ${table}`, values: [] })).length;

  it("no longer give access to others", async () => {
    const person = await aMerchantsPerson();
    const mia = await signIn(service, person);
    const guest = (await mia.post("/api/people", anInvitation())).body;
    const token = (await mia.post("/api/tokens", { name: "Sync", ...merchantGrant() })).body;
    const before = [await count("people"), await count("back_office_tokens")];
    const answers = await takeAway("delete from person_grants where person_id = $1", person.id, () => [
      mia.post("/api/people", anInvitation()),
      mia.post("/api/tokens", { name: "Late", ...merchantGrant() }),
      mia.post(`/api/tokens/${token.id}/rotate`, {}),
      mia.request("PUT", `/api/people/${guest.id}/grants`, {
        grants: [{ role: "partner", connectionIds: [partner.connectionId] }],
      }),
    ]);
    // The last one has begun before or after: then the guest is not found, or the person has no role at all.
    expect(answers.map(({ status }) => status)).toEqual([403, 403, 403, expect.toBeOneOf([403, 404])]);
    expect([await count("people"), await count("back_office_tokens")]).toEqual(before);
    expect((await service.backOffice.get(`/api/people/${guest.id}`)).body.grants).toEqual(guest.grants);
  });

  it("no longer give it by a token that is revoked", async () => {
    const fields = { name: "Sync", ...merchantGrant(), scopes: ["*"] };
    const { id, token } = (await service.backOffice.post("/api/tokens", fields)).body;
    const program = service.backOfficeAs(token);
    const revoke = "update back_office_tokens set revoked_at = now() where id = $1";
    const answers = await takeAway(revoke, fromTypeId("tok", id) ?? "", () => [
      program.post("/api/people", anInvitation()),
      program.post(`/api/tokens/${id}/rotate`, {}),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([403, 403]);
  });

  it("no longer change a person who was given more at the same time", async () => {
    const mia = await signIn(service, await aMerchantsPerson());
    const guest = await aMerchantsPerson();
    const promote =
      "insert into person_grants (person_id, role, merchant_ids, connection_ids) values ($1, 'operator', '{}', '{}')";
    const answers = await takeAway(promote, guest.id, () => [
      mia.post(`/api/people/${toTypeId("per", guest.id)}/disable`),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([404]);
  });
});
