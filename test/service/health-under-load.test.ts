import { expect, it } from "vitest";
import { createBackOffice } from "../../src/back-office/app.ts";
import { operatorAuthentication } from "../../src/back-office/authentication.ts";
import { sessionAuthentication } from "../../src/back-office/people/session-authentication.ts";
import { addBacklogMetrics } from "../../src/operations/metrics.ts";
import { openDatabase } from "../../src/platform/database/database.ts";
import { toTypeId } from "../../src/platform/ids.ts";
import { createMetrics } from "../../src/platform/metrics.ts";
import { createPerson, linkToken } from "../support/people.ts";
import { OPERATOR_TOKEN, startServiceForTest } from "../support/test-service.ts";

it("health and metrics are served while all connections of the back office are in use, and take none of them", async () => {
  const { context } = await startServiceForTest();
  const open = () =>
    openDatabase({
      url: String(context.config.databaseUrl),
      connectionsMax: 1,
      onIdleError: () => undefined,
    });
  const [backOfficeDb, healthDb] = [open(), open()];
  const metrics = createMetrics();
  const health = { ...context, db: healthDb };
  addBacklogMetrics(metrics.registry, health);
  const authenticate = operatorAuthentication(OPERATOR_TOKEN);
  const app = createBackOffice({ ...context, db: backOfficeDb }, authenticate, metrics, { health });
  await backOfficeDb.transaction(async () => {
    const paths = Array.from({ length: 50 }, (_, count) => (count % 2 === 0 ? "/metrics" : "/readyz"));
    const answers = await Promise.all(paths.map((url) => app.inject({ url })));
    expect(new Set(answers.map(({ statusCode }) => statusCode))).toEqual(new Set([200]));
    expect(answers[0]?.body).toContain("partner_orders_mails_queued 0");
  });
  expect(backOfficeDb.use()).toMatchObject({ inUse: 0, waiting: 0 });
  await app.close();
  await Promise.all([backOfficeDb.close(), healthDb.close()]);
});

it("people sign in, and are recognized, while all connections of the back office are in use", async () => {
  const service = await startServiceForTest();
  const { context } = service;
  const person = await createPerson(service);
  const token = await linkToken(service, person, "sign-in");
  const open = () =>
    openDatabase({
      url: String(context.config.databaseUrl),
      connectionsMax: 1,
      onIdleError: () => undefined,
    });
  const [backOfficeDb, peopleDb] = [open(), open()];
  const people = { ...context, db: peopleDb };
  const authenticate = sessionAuthentication(people, operatorAuthentication(OPERATOR_TOKEN));
  const app = createBackOffice({ ...context, db: backOfficeDb }, authenticate, createMetrics(), { people });
  await backOfficeDb.transaction(async () => {
    const signIns = await Promise.all([
      app.inject({ method: "POST", url: "/auth/sign-in/link", payload: { token } }),
      ...Array.from({ length: 3 }, () =>
        app.inject({
          method: "POST",
          url: "/auth/sign-in/password",
          payload: { email: "nobody@example.com", password: "wrong" },
        }),
      ),
    ]);
    expect(signIns.map(({ statusCode }) => statusCode)).toEqual([200, ...Array(3).fill(401)]);
    const [signedIn] = signIns;
    const cookie = [signedIn?.headers["set-cookie"] ?? []]
      .flat()
      .map((set) => set.split(";")[0])
      .join("; ");
    const me = await app.inject({ url: "/api/me", headers: { cookie } });
    expect(me.json()).toMatchObject({ personId: toTypeId("per", person.id), email: person.email });
  });
  expect(backOfficeDb.use()).toMatchObject({ inUse: 0, waiting: 0 });
  await app.close();
  await Promise.all([backOfficeDb.close(), peopleDb.close()]);
});
