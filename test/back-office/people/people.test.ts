import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sendDueMails } from "../../../src/mail/send-mails.ts";
import { fromTypeId, toTypeId } from "../../../src/platform/ids.ts";
import { createPartner, type Partner } from "../../support/builders.ts";
import { startMailServer } from "../../support/mail-server.ts";
import {
  type Browser,
  createPerson,
  createPersonWithPassword,
  openBrowser,
  PASSWORD,
  signIn,
} from "../../support/people.ts";
import { startTestService, type TestService } from "../../support/test-service.ts";

let service: TestService;
let partner: Partner;
let other: Partner;
let operator: Browser;
beforeAll(async () => {
  service = await startTestService();
  partner = await createPartner(service);
  other = await createPartner(service);
  operator = await signIn(service, await createPerson(service, { name: "Olga Operator" }));
});
afterAll(() => service.close());

const merchantGrant = ({ merchantId }: Partner) => ({ role: "merchant", merchantIds: [merchantId] });
const partnerGrant = ({ connectionId }: Partner) => ({ role: "partner", connectionIds: [connectionId] });
const uuidOf = (prefix: "mer" | "con", id: string): string => fromTypeId(prefix, id) ?? "";

let counter = 0;
const anInvitation = (grant: object, email?: string) => {
  counter += 1;
  return { name: `Guest ${counter}`, email: email ?? `guest${counter}@example.com`, grants: [grant] };
};

/** The token in the newest mail to an address that waits to be sent. Empty: there is none. */
async function mailedToken(address: string): Promise<string> {
  const [mail] = await service.db.query<{ body: string }>({
    name: "newest-mail",
    text: "select body from outgoing_mails where recipient = $1 order by id desc limit 1",
    values: [address],
  });
  return /#token=(pol_[\w-]{43})/.exec(mail?.body ?? "")?.[1] ?? "";
}

/** A person of the merchant who has signed in. */
const merchantsPerson = async ({ merchantId }: Partner): Promise<Browser> =>
  signIn(
    service,
    await createPerson(service, { grants: [{ role: "merchant", merchantIds: [uuidOf("mer", merchantId)] }] }),
  );

describe("POST /api/people", () => {
  it("sends an invitation that is accepted once, and after a new one no more", async () => {
    const invitation = anInvitation(merchantGrant(partner));
    const invited = await operator.post("/api/people", invitation);
    expect(invited).toMatchObject({
      status: 201,
      body: { state: "invited", createdBy: { kind: "operator", name: "Olga Operator" }, acceptedAt: null },
    });
    const first = await mailedToken(invitation.email);
    expect((await operator.post(`/api/people/${invited.body.id}/resend-invitation`)).status).toBe(200);
    const token = await mailedToken(invitation.email);
    expect((await openBrowser(service).post("/auth/sign-in/link", { token: first })).status).toBe(401);
    const guest = openBrowser(service);
    expect((await guest.post("/auth/sign-in/link", { token })).status).toBe(200);
    expect((await openBrowser(service).post("/auth/sign-in/link", { token })).status).toBe(401);
    expect((await guest.get("/api/me")).body).toMatchObject({
      role: "merchant",
      merchantIds: [partner.merchantId],
    });
    expect((await operator.get(`/api/people/${invited.body.id}`)).body.state).toBe("active");
    const again = await operator.post(`/api/people/${invited.body.id}/resend-invitation`);
    expect(again).toMatchObject({ status: 409, body: { code: "person-state", state: "active" } });
  });

  it("sends a mail without any text that the inviter has chosen", async () => {
    const mails = await startMailServer();
    const name = "Your account is blocked pay now";
    const inviter = await signIn(service, await createPerson(service, { name: "Ann evil dot com" }));
    const invitation = { ...anInvitation({ role: "support" }), name };
    await inviter.post("/api/people", invitation);
    await openBrowser(service).post("/auth/reset", { email: invitation.email });
    await sendDueMails({ ...service.context, config: { ...service.context.config, smtpUrl: mails.url } });
    const sent = mails.mails.filter(({ to }) => to.includes(invitation.email));
    expect(sent.map(({ headers }) => headers["subject"])).toContain("You are invited to Partner Orders");
    for (const { headers, body } of sent)
      expect(`${headers["subject"]}\n${body}`).not.toMatch(/blocked|pay now|Ann|evil/);
  });

  it("sends a mail whose link the database forgets once it was sent", async () => {
    const mails = await startMailServer();
    const invitation = anInvitation({ role: "support" });
    await service.backOffice.post("/api/people", invitation);
    expect(await mailedToken(invitation.email)).not.toBe("");
    await sendDueMails({ ...service.context, config: { ...service.context.config, smtpUrl: mails.url } });
    const [mail] = mails.mails.filter(({ to }) => to.includes(invitation.email));
    expect(mail?.headers["subject"]).toBe("You are invited to Partner Orders");
    expect(mail?.body).toContain("you are invited to the console");
    expect(mail?.body).toContain("/welcome#token");
    expect(await mailedToken(invitation.email)).toBe("");
  });

  it("expires after seven days", async () => {
    const invitation = anInvitation(merchantGrant(partner));
    await service.backOffice.post("/api/people", invitation);
    const token = await mailedToken(invitation.email);
    service.clock.advance({ hours: 7 * 24 });
    expect((await openBrowser(service).post("/auth/sign-in/link", { token })).status).toBe(401);
    operator = await signIn(service, await createPerson(service, { name: "Olga Operator" }));
  });

  it("rejects an address that a person has, in whatever case, also for many at once", async () => {
    const invitation = anInvitation({ role: "support" });
    const answers = await Promise.all(
      ["guest", "GUEST", "Guest", "gueST"].map((name) =>
        service.backOffice.post("/api/people", { ...invitation, email: `${name}@twice.example` }),
      ),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409]);
  });

  it("lets a merchant's person give no more than it has", async () => {
    const mia = await merchantsPerson(partner);
    const { length } = await service.db.query({ name: "people", text: "select id from people", values: [] });
    for (const grant of [
      { role: "operator" },
      { role: "warehouse" },
      { role: "support" },
      merchantGrant(other),
      partnerGrant(other),
    ]) {
      const answer = await mia.post("/api/people", anInvitation(grant));
      expect(answer, JSON.stringify(grant)).toMatchObject({ status: 422 });
    }
    expect(
      await service.db.query({ name: "people", text: "select id from people", values: [] }),
    ).toHaveLength(length);
    expect((await mia.post("/api/people", anInvitation(merchantGrant(partner)))).status).toBe(201);
    expect((await mia.post("/api/people", anInvitation(partnerGrant(partner)))).status).toBe(201);
    const twice = {
      ...anInvitation(merchantGrant(partner)),
      grants: [merchantGrant(partner), merchantGrant(partner)],
    };
    expect((await mia.post("/api/people", twice)).body.errors).toMatchObject([{ pointer: "/grants/1/role" }]);
  });
});

describe("a merchant's person", () => {
  it("sees and changes people of its merchant alone, and others look as if they were missing", async () => {
    const mia = await merchantsPerson(partner);
    const own = (await mia.post("/api/people", anInvitation(partnerGrant(partner)))).body;
    const foreign = (await operator.post("/api/people", anInvitation(merchantGrant(other)))).body;
    const wider = await operator.post("/api/people", {
      ...anInvitation(merchantGrant(partner)),
      grants: [merchantGrant(partner), { role: "warehouse" }],
    });
    const { data } = (await mia.get("/api/people?limit=100")).body;
    const ids = data.map(({ id }: { id: string }) => id);
    expect(ids).toContain(own.id);
    for (const { id } of [foreign, wider.body]) {
      expect(ids).not.toContain(id);
      for (const [method, step, body] of [
        ["GET", "", undefined],
        ["PUT", "/grants", { grants: [merchantGrant(partner)] }],
        ["POST", "/disable", undefined],
        ["POST", "/end-sessions", undefined],
      ] as const) {
        const answer = await mia.request(method, `/api/people/${id}${step}`, body);
        const missing = await mia.request(method, `/api/people/per_01m7y7np16fe68bxp4h91tdmdn${step}`, body);
        expect(answer.status).toBe(404);
        expect({ ...answer.body, instance: "" }).toEqual({ ...missing.body, instance: "" });
      }
    }
    expect((await mia.post(`/api/people/${own.id}/sign-in-link`)).status).toBe(403);
    expect((await mia.post(`/api/people/${own.id}/disable`)).body.state).toBe("disabled");
  });
});

describe("GET /api/people/{id}", () => {
  it("finds a person by its id and by its address, and none by what is no address", async () => {
    const { id, email } = (await operator.post("/api/people", anInvitation({ role: "support" }))).body;
    for (const named of [id, email, email.toUpperCase()])
      expect((await operator.get(`/api/people/${named}`)).body).toMatchObject({ id, email });
    for (const missing of ["ada%40example.com%00", "%40", "%00"])
      expect((await operator.get(`/api/people/${missing}`)).status, missing).toBe(404);
  });
});

describe("GET /api/people", () => {
  it("is narrowed to a part of a name or address, to a role and to a state", async () => {
    const { id } = await createPerson(service, { name: "Zoë Zimmer", grants: [{ role: "monitoring" }] });
    const idsOf = async (query: string) =>
      (await service.backOffice.get(`/api/people?${query}`)).body.data.map(
        (person: { id: string }) => person.id,
      );
    const personId = toTypeId("per", id);
    expect(await idsOf("q=zimm")).toEqual([personId]);
    expect(await idsOf("q=%25")).toEqual([]);
    expect(await idsOf("role=monitoring&state=invited&q=ZO")).toEqual([personId]);
    expect(await idsOf("q=zimm&role=support")).toEqual([]);
    expect(await idsOf("q=zimm&state=active")).toEqual([]);
    await service.backOffice.post(`/api/people/${personId}/disable`);
    expect(await idsOf("q=zimm&state=disabled")).toEqual([personId]);
    expect((await service.backOffice.get("/api/people?state=gone")).status).toBe(422);
  });
});

describe("a change of a person", () => {
  it("counts from its next request on", async () => {
    const person = await createPerson(service, { grants: [{ role: "support" }] });
    const browser = await signIn(service, person);
    const path = `/api/people/${person.email}`;
    expect((await browser.get("/api/orders")).status).toBe(200);
    await service.backOffice.request("PUT", `${path}/grants`, { body: { grants: [{ role: "monitoring" }] } });
    expect((await browser.get("/api/orders")).status).toBe(403);
    await service.backOffice.post(`${path}/end-sessions`);
    expect((await browser.get("/api/me")).status).toBe(401);
    const back = await signIn(service, person);
    await service.backOffice.post(`${path}/disable`);
    expect((await back.get("/api/me")).status).toBe(401);
    const link = await service.backOffice.post(`${path}/sign-in-link`);
    expect(link).toMatchObject({ status: 409, body: { state: "disabled" } });
    await service.backOffice.post(`${path}/enable`);
    expect((await back.get("/api/me")).status).toBe(401);
    await signIn(service, person);
  });

  it("keeps a disabled person out, with its password as well", async () => {
    const { person } = await createPersonWithPassword(service, { grants: [{ role: "support" }] });
    await service.backOffice.post(`/api/people/${person.email}/disable`);
    const answer = await openBrowser(service).post("/auth/sign-in/password", {
      email: person.email,
      password: PASSWORD,
    });
    expect(answer).toMatchObject({ status: 401, body: { code: "sign-in-failed" } });
  });

  it("leaves one operator, when all are removed at once", async () => {
    const lone = await startTestService();
    const operators = await Promise.all(Array.from({ length: 4 }, () => createPerson(lone)));
    const answers = await Promise.all(
      operators.map(({ email }, index) =>
        index % 2 === 0
          ? lone.backOffice.post(`/api/people/${email}/disable`)
          : lone.backOffice.request("PUT", `/api/people/${email}/grants`, {
              body: { grants: [{ role: "support" }] },
            }),
      ),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 200, 409]);
    await lone.close();
  });

  it("needs recent authentication where it gives rights, and a token never does", async () => {
    const olga = await signIn(service, await createPerson(service));
    service.clock.advance({ minutes: 15 });
    const answer = await olga.post("/api/people", anInvitation({ role: "support" }));
    expect(answer).toMatchObject({ status: 403, body: { code: "recent-authentication-required" } });
    expect((await olga.get("/api/people")).status).toBe(200);
    expect((await service.backOffice.post("/api/people", anInvitation({ role: "support" }))).status).toBe(
      201,
    );
  });
});

describe("POST /auth/reset", () => {
  it("returns the same for both, and lets a person who has the mail set a password once", async () => {
    const { person, browser } = await createPersonWithPassword(service);
    const visitor = openBrowser(service, "192.0.2.20");
    const unknown = await visitor.post("/auth/reset", { email: "nobody@example.com" });
    const known = await visitor.post("/auth/reset", { email: person.email });
    expect([unknown.status, known.status]).toEqual([202, 202]);
    expect(known.body).toEqual(unknown.body);
    await expect.poll(() => mailedToken(person.email)).not.toBe("");
    expect(await mailedToken("nobody@example.com")).toBe("");
    const token = await mailedToken(person.email);
    expect((await visitor.post("/auth/sign-in/link", { token })).status).toBe(401);
    const password = "a completely new password";
    expect((await visitor.post("/auth/reset/password", { token, password })).status).toBe(204);
    expect((await visitor.post("/auth/reset/password", { token, password })).status).toBe(401);
    expect((await browser.get("/api/me")).status).toBe(401);
    const signedIn = await visitor.post("/auth/sign-in/password", { email: person.email, password });
    expect(signedIn.status).toBe(200);
  });
});
