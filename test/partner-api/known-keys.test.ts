import { expect, it } from "vitest";
import { eventually, makePartner, send, startService, TOKEN } from "../support/running-service.ts";

// docs/design/isolation-and-limits.md, "Known keys": real processes, which share only the database. One serves the back office.

it("a key that was revoked, or rotated without an overlap, is rejected by the next request at that process and soon by others", async () => {
  const first = await startService();
  const second = await startService({ DATABASE_URL: first.databaseUrl, ROLES: "api" });
  const statusesOf = async (key: string) => [
    (await send(`${first.api}/v1/me`, key)).status,
    (await send(`${second.api}/v1/me`, key)).status,
  ];

  /** A partner whose key both processes know, and the address of its key in the back office. */
  async function partnerKnownToBoth() {
    const { key, connectionId } = await makePartner(first.backOffice);
    const listed = await send(`${first.backOffice}/api/connections/${connectionId}/keys`, TOKEN);
    expect(await statusesOf(key)).toEqual([200, 200]);
    return { key, path: `${first.backOffice}/api/keys/${listed.body.data[0].id}` };
  }
  async function expectRejected(key: string) {
    expect((await send(`${first.api}/v1/me`, key)).status).toBe(401);
    await eventually(async () => expect(await statusesOf(key)).toEqual([401, 401]));
  }

  const [revoked, rotated, other] = [
    await partnerKnownToBoth(),
    await partnerKnownToBoth(),
    await partnerKnownToBoth(),
  ];
  expect((await send(`${revoked.path}/revoke`, TOKEN, {})).status).toBe(200);
  await expectRejected(revoked.key);

  expect(
    await statusesOf(rotated.key),
    "known again, since the revocation made both forget all keys",
  ).toEqual([200, 200]);
  const { status, body } = await send(`${rotated.path}/rotate`, TOKEN, { overlapHours: 0 });
  expect(status).toBe(201);
  await expectRejected(rotated.key);
  expect(await statusesOf(body.key)).toEqual([200, 200]);

  expect(await statusesOf(other.key)).toEqual([200, 200]);
});
