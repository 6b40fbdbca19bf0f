import { toTypeId } from "../../src/platform/ids.ts";
import { createPerson, openBrowser, PASSWORD, signIn } from "./people.ts";
import type { Answer, TestService } from "./test-service.ts";

type Provoked = Promise<[answer: Omit<Answer, "body"> & { document: Answer["body"] }, instance: string]>;

/** A request that causes each problem about people, and the path that the problem names. */
export const peopleProblems = (test: () => TestService) => ({
  "sign-in-failed": async (): Provoked => {
    const path = "/auth/sign-in/link";
    const { body, ...answer } = await openBrowser(test()).post(path, { token: "pol_no" });
    return [{ ...answer, document: body }, path];
  },
  "recent-authentication-required": async (): Provoked => {
    const browser = await signIn(test(), await createPerson(test()));
    await test().db.runScript(
      "update person_sessions set authenticated_at = authenticated_at - interval '15 minutes'",
    );
    const path = "/auth/password";
    const { body, ...answer } = await browser.post(path, { password: PASSWORD });
    return [{ ...answer, document: body }, path];
  },
  "scope-required": async (): Provoked => {
    const { token } = (await test().backOffice.post("/api/tokens", { name: "Sync", role: "operator" })).body;
    const { body, ...answer } = await test().backOfficeAs(token).post("/api/tokens", {});
    return [{ ...answer, document: body }, "/api/tokens"];
  },
  "token-expires": async (): Provoked => {
    const expiresAt = new Date(test().clock.now().getTime() + 60_000).toISOString();
    const fields = { name: "Sync", role: "operator", scopes: ["*"], expiresAt };
    const { token } = (await test().backOffice.post("/api/tokens", fields)).body;
    const person = { name: "P", email: "outlasts@example.com", grants: [{ role: "support" }] };
    const { body, ...answer } = await test().backOfficeAs(token).post("/api/people", person);
    return [{ ...answer, document: body }, "/api/people"];
  },
  "person-exists": async (): Provoked => {
    const person = { name: "P", email: "twice@example.com", grants: [{ role: "support" }] };
    await test().backOffice.post("/api/people", person);
    const { body, ...answer } = await test().backOffice.post("/api/people", person);
    return [{ ...answer, document: body }, "/api/people"];
  },
  "version-changed": async (): Provoked => {
    const person = { name: "P", email: "changed@example.com", grants: [{ role: "support" }] };
    const { id } = (await test().backOffice.post("/api/people", person)).body;
    const path = `/api/people/${id}/grants`;
    const change = { body: { grants: [{ role: "monitoring" }], expectedVersion: "old" } };
    const { body, ...answer } = await test().backOffice.request("PUT", path, change);
    return [{ ...answer, document: body }, path];
  },
  "person-state": async (): Provoked => {
    const person = { name: "P", email: "disabled@example.com", grants: [{ role: "support" }] };
    const { id } = (await test().backOffice.post("/api/people", person)).body;
    await test().backOffice.post(`/api/people/${id}/disable`);
    const path = `/api/people/${id}/sign-in-link`;
    const { body, ...answer } = await test().backOffice.post(path);
    return [{ ...answer, document: body }, path];
  },
  "person-changed": async (): Provoked => {
    const browser = await signIn(test(), await createPerson(test()));
    const other = toTypeId("per", (await createPerson(test())).id);
    const { body, ...answer } = await browser.request("GET", "/api/me", undefined, { "x-person-id": other });
    return [{ ...answer, document: body }, "/api/me"];
  },
});
