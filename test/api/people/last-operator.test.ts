import { describe, expect, it } from "vitest";
import type { Person } from "../../../src/people/person.ts";
import { createPerson, signIn } from "../../support/people.ts";
import { startServiceForTest, type TestService } from "../../support/test-service.ts";

const disable = async ({ backOffice }: TestService, { email }: Person) =>
  (await backOffice.post(`/api/people/${email}/disable`)).status;
const stateOf = async ({ backOffice }: TestService, { email }: Person) =>
  (await backOffice.get(`/api/people/${email}`)).body.state;

async function createActive(service: TestService): Promise<Person> {
  const person = await createPerson(service);
  await signIn(service, person);
  return person;
}

describe("the last operator who has signed in", () => {
  it("keeps its role and stays enabled, also beside one who has only been invited", async () => {
    const service = await startServiceForTest();
    const last = await createActive(service);
    const invited = await createPerson(service);
    const path = `/api/people/${last.email}`;
    const grants = [{ role: "support" }];
    for (const answer of [
      await service.backOffice.post(`${path}/disable`),
      await service.backOffice.request("PUT", `${path}/grants`, { body: { grants } }),
    ])
      expect(answer).toMatchObject({ status: 409, body: { code: "person-state", state: "last-operator" } });
    expect((await service.backOffice.get(path)).body).toMatchObject({
      state: "active",
      grants: [{ role: "operator" }],
    });
    await signIn(service, invited);
    expect(await disable(service, last)).toBe(200);
    expect(await disable(service, invited)).toBe(409);
  });

  it("does not keep one who has only been invited, or is disabled", async () => {
    const service = await startServiceForTest();
    const [first, last] = [await createActive(service), await createActive(service)];
    const invited = await createPerson(service);
    expect(await disable(service, invited)).toBe(200);
    expect(await disable(service, first)).toBe(200);
    expect(await disable(service, last)).toBe(409);
  });

  it("is left if both are disabled at the same time", async () => {
    const service = await startServiceForTest();
    const both = [await createActive(service), await createActive(service)];
    const statuses = await Promise.all(both.map((person) => disable(service, person)));
    expect(statuses.sort()).toEqual([200, 409]);
    const states = await Promise.all(both.map((person) => stateOf(service, person)));
    expect(states.sort()).toEqual(["active", "disabled"]);
  });
});

it("of operators of whom none has signed in, one stays enabled", async () => {
  const service = await startServiceForTest();
  const [first, last] = [await createPerson(service), await createPerson(service)];
  expect(await disable(service, first)).toBe(200);
  expect(await disable(service, last)).toBe(409);
});
