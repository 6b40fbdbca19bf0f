import { describe, expect, it } from "vitest";
import {
  awaitsFirstOperator,
  ensureFirstOperator,
  FIRST_OPERATOR_EMAIL,
  firstOperatorLink,
} from "../../../src/people/first-operator.ts";
import type { MadeLink } from "../../../src/people/links.ts";
import { recordSignIn } from "../../../src/people/people-sql.ts";
import { untilBlocked } from "../../support/blocked.ts";
import { countRows } from "../../support/builders.ts";
import { createPerson, openBrowser, signIn } from "../../support/people.ts";
import { startServiceForTest } from "../../support/test-service.ts";

describe("the link for the first operator", () => {
  it("is made until an operator has signed in, whichever it is", async () => {
    const service = await startServiceForTest();
    await ensureFirstOperator(service.context);
    const invited = await createPerson(service);
    const viewer = await createPerson(service, { grants: [{ role: "monitoring" }] });
    await signIn(service, viewer);
    expect(await awaitsFirstOperator(service.context)).toMatchObject({ email: FIRST_OPERATOR_EMAIL });
    expect((await firstOperatorLink(service.context))?.url).toContain("/sign-in#token=");
    const browser = await signIn(service, invited);
    expect(await awaitsFirstOperator(service.context)).toBeNull();
    expect(await firstOperatorLink(service.context)).toBeNull();
    await browser.post("/auth/sign-out");
    expect(await firstOperatorLink(service.context)).toBeNull();
  });

  it("is not made while the person signs in", async () => {
    const service = await startServiceForTest();
    await ensureFirstOperator(service.context);
    const person = await awaitsFirstOperator(service.context);
    const { made } = await service.db.transaction(async (tx) => {
      await recordSignIn(tx, person?.id ?? "", service.clock.now());
      const link = firstOperatorLink(service.context);
      await untilBlocked(service, 1);
      return { made: link };
    });
    expect(await made).toBeNull();
    expect(await countRows(service, "person_links")).toBe(0);
  });

  it("is not made between the use of an earlier one and the end of that sign-in", async () => {
    const service = await startServiceForTest();
    await ensureFirstOperator(service.context);
    const tokenOf = (link: MadeLink | null) => link?.url.split("#token=")[1];
    const token = tokenOf(await firstOperatorLink(service.context));
    const { made, answer } = await service.db.transaction(async (tx) => {
      await tx.query({
        name: "test-lock-sessions",
        text: "lock table person_sessions in share mode",
        values: [],
      });
      const signsIn = openBrowser(service).post("/auth/sign-in/link", { token });
      await untilBlocked(service, 1);
      const link = firstOperatorLink(service.context);
      await untilBlocked(service, 2);
      return { made: link, answer: signsIn };
    });
    expect((await answer).status).toBe(200);
    expect(await made).toBeNull();
  });

  it("is not made for a person who is disabled: it would sign no one in", async () => {
    const service = await startServiceForTest();
    await ensureFirstOperator(service.context);
    await createPerson(service); // Another operator, who can be let in.
    const path = `/api/people/${FIRST_OPERATOR_EMAIL}`;
    expect((await service.backOffice.post(`${path}/disable`)).status).toBe(200);
    expect(await awaitsFirstOperator(service.context)).toBeNull();
    expect(await firstOperatorLink(service.context)).toBeNull();
    expect((await service.backOffice.post(`${path}/enable`)).status).toBe(200);
    expect(await firstOperatorLink(service.context)).not.toBeNull();
  });
});
