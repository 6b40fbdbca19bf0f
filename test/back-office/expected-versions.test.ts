import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { toTypeId } from "../../src/platform/ids.ts";
import { createPartner, placeOrder } from "../support/builders.ts";
import { aRate, createFacility } from "../support/facilities.ts";
import { createPerson } from "../support/people.ts";
import { dumpTables } from "../support/tables.ts";
import { type Answer, startTestService, type TestService } from "../support/test-service.ts";

let test: TestService;
beforeAll(async () => {
  test = await startTestService();
});
afterAll(() => test.close());

/** What a change replaces as a whole: how it is read, and how it is changed to the value of a number. */
type Replaced = {
  read(): Promise<{ version: string }>;
  replace(number: number, expectedVersion?: string): Promise<Answer>;
};

const ratesOf = async (): Promise<Replaced> => {
  const path = `/api/facilities/${await createFacility(test)}/rates`;
  return {
    read: async () => ({ version: (await test.backOffice.get(path)).body.version }),
    replace: (number, expectedVersion) =>
      test.backOffice.request("PUT", path, {
        body: { rates: [aRate(), aRate({ country: "FR", grams: number })], expectedVersion },
      }),
  };
};

const grantsOf = async (): Promise<Replaced> => {
  const facilityIds = await Promise.all(Array.from({ length: 4 }, () => createFacility(test)));
  const person = await createPerson(test, { grants: [{ role: "support" }] });
  const path = `/api/people/${toTypeId("per", person.id)}`;
  return {
    read: async () => ({ version: (await test.backOffice.get(path)).body.grantsVersion }),
    replace: (number, expectedVersion) => {
      const warehouse = { role: "warehouse", facilityIds: [facilityIds[number % 4]] };
      // Their order does not matter.
      const grants = number % 2 === 0 ? [warehouse, { role: "support" }] : [{ role: "support" }, warehouse];
      return test.backOffice.request("PUT", `${path}/grants`, { body: { grants, expectedVersion } });
    },
  };
};

const policyOf = async (): Promise<Replaced> => {
  const { connectionId } = await createPartner(test);
  const path = `/api/connections/${connectionId}`;
  return {
    read: async () => ({ version: (await test.backOffice.get(path)).body.reviewPolicy.version }),
    replace: (number, expectedVersion) =>
      test.backOffice.request("PATCH", path, {
        body: { name: "Partner", reviewPolicy: { maxQuantity: number, expectedVersion } },
      }),
  };
};

/** Its number is in the second line, so that every correction is one of an address that has the others. */
const addressOf = async (): Promise<Replaced> => {
  const { id } = await placeOrder(await createPartner(test));
  const path = `/api/orders/${id}`;
  return {
    read: async () => ({ version: (await test.backOffice.get(path)).body.shippingAddressVersion }),
    replace: (number, expectedVersion) =>
      test.backOffice.request("PATCH", `${path}/shipping-address`, {
        body: { address2: `Flat ${number}`, expectedVersion },
      }),
  };
};

describe.each([
  ["PUT /api/facilities/{id}/rates", ratesOf],
  ["PUT /api/people/{id}/grants", grantsOf],
  ["PATCH /api/connections/{id} with a review policy", policyOf],
  ["PATCH /api/orders/{id}/shipping-address", addressOf],
])("%s with expectedVersion", (_route, create) => {
  let replaced: Replaced;
  beforeEach(async () => {
    replaced = await create();
  });

  it("replaces the version that was read, and returns another one", async () => {
    const { version } = await replaced.read();
    expect((await replaced.replace(1, version)).status).toBe(200);
    const after = await replaced.read();
    expect(after.version).not.toBe(version);
    expect((await replaced.replace(2, after.version)).status).toBe(200);
  });

  it("is rejected with 409 and the present version if it was changed since, and changes nothing", async () => {
    const opened = await replaced.read();
    await replaced.replace(1, opened.version);
    const before = await dumpTables(test);
    const { status, body } = await replaced.replace(2, opened.version);
    expect(status).toBe(409);
    expect(await dumpTables(test)).toEqual(before);
    const { version } = await replaced.read();
    expect(body).toMatchObject({ code: "version-changed", version });
  });

  it("can be repeated after a response that was lost", async () => {
    const { version } = await replaced.read();
    await replaced.replace(1, version);
    const before = await dumpTables(test);
    expect((await replaced.replace(1, version)).status).toBe(200);
    expect(await dumpTables(test)).toEqual(before);
  });

  it("lets one of ten concurrent changes win", async () => {
    await replaced.replace(0);
    const { version } = await replaced.read();
    const numbers = [1, 2, 3, 5, 6, 7, 9, 10, 11, 13];
    const answers = await Promise.all(numbers.map((number) => replaced.replace(number, version)));
    const won = answers.filter(({ status }) => status === 200);
    const lost = answers.filter(({ status }) => status === 409);
    expect([won.length + lost.length, (await replaced.read()).version === version]).toEqual([10, false]);
    expect(new Set(won.map(({ body }) => JSON.stringify(body))).size, "the same change may come twice").toBe(
      1,
    );
  });

  it("replaces any version without it", async () => {
    await replaced.replace(1);
    const { version } = await replaced.read();
    expect((await replaced.replace(2)).status).toBe(200);
    expect((await replaced.read()).version).not.toBe(version);
  });
});

it("a change of grants returns them in the order in which they are read", async () => {
  const grants = await grantsOf();
  const changed = await grants.replace(2); // Sent in another order.
  expect((await grants.replace(2)).body.grants).toEqual(changed.body.grants);
});

it("the version of rates is the same in whatever order they were sent", async () => {
  const path = `/api/facilities/${await createFacility(test)}/rates`;
  const put = async (rates: object[]) =>
    (await test.backOffice.request("PUT", path, { body: { rates } })).body.version;
  const [one, two] = [aRate(), aRate({ country: "FR" })];
  expect(await put([one, two])).toBe(await put([two, one]));
  expect(await put([one])).not.toBe(await put([one, two]));
});

it("the version of an address is that of its fields, and does not change with the order", async () => {
  const { id } = await placeOrder(await createPartner(test));
  const path = `/api/orders/${id}`;
  const version = async () => (await test.backOffice.get(path)).body.shippingAddressVersion;
  const correct = (body: object) => test.backOffice.request("PATCH", `${path}/shipping-address`, { body });
  const first = await version();
  await test.backOffice.post(`${path}/hold`, { reasons: ["merchant_request"] });
  expect(await version()).toBe(first);
  await correct({ phone: "1", expectedVersion: first });
  expect(await version()).not.toBe(first);
  await correct({ phone: null });
  expect(await version()).toBe(first);
  const { timeline } = (await test.backOffice.get(path)).body;
  expect(timeline.at(-2), "names what was corrected").toMatchObject({ detail: "phone" });
});
