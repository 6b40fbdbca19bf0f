import { scryptSync } from "node:crypto";
import type { Grant } from "../../src/audit/grant.ts";
import { byService } from "../../src/audit/record-audit.ts";
import { type LinkKind, makeLink } from "../../src/people/links.ts";
import { storePassword } from "../../src/people/passwords.ts";
import { insertPerson } from "../../src/people/people-sql.ts";
import type { Person } from "../../src/people/person.ts";
import type { Answer, Client, TestService } from "./test-service.ts";

type Raw = { readonly statusCode: number; readonly headers: Record<string, unknown> };

/** A browser: it keeps cookies, and names the page that it is on. */
export type Browser = {
  readonly cookies: Map<string, string>;
  get(path: string): Promise<Answer>;
  /** A request that the browser was sent to by another site. The description does not have it. */
  raw(path: string): Promise<Raw>;
  post(path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
  request(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
};

const HOST = "localhost:8081";

export function openBrowser(service: TestService, address = "192.0.2.1"): Browser {
  const cookies = new Map<string, string>();
  const client = service.backOfficeFrom(address);
  const request: Browser["request"] = async (method, path, body, headers = {}) => {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const answer = await client.request(method, path, {
      ...(body !== undefined && { body }),
      headers: {
        host: HOST,
        ...(method !== "GET" && { origin: `http://${HOST}` }),
        ...(cookie !== "" && { cookie }),
        ...headers,
      },
    });
    for (const set of setCookies(answer)) {
      const [pair = "", ...attributes] = set.split("; ");
      const at = pair.indexOf("=");
      if (attributes.includes("Max-Age=0")) cookies.delete(pair.slice(0, at));
      else cookies.set(pair.slice(0, at), pair.slice(at + 1));
    }
    return answer;
  };
  const raw: Browser["raw"] = async (path) => {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const answer = await service.inject({ method: "GET", url: path, headers: { host: HOST, cookie } });
    const sent = [answer.headers["set-cookie"] ?? []].flat().map(String);
    for (const set of sent) {
      const [pair = "", ...attributes] = set.split("; ");
      const at = pair.indexOf("=");
      if (attributes.includes("Max-Age=0")) cookies.delete(pair.slice(0, at));
      else cookies.set(pair.slice(0, at), pair.slice(at + 1));
    }
    return answer;
  };
  return {
    cookies,
    raw,
    get: (path) => request("GET", path),
    post: (path, body, headers) => request("POST", path, body, headers),
    request,
  };
}

/** A client that acts as a person who has just signed in. */
export async function signedInAs(
  service: TestService,
  grants: readonly Grant[],
  name?: string,
): Promise<Client> {
  const person = await createPerson(service, { grants, ...(name !== undefined && { name }) });
  const browser = await signIn(service, person);
  const cookie = [...browser.cookies].map(([key, value]) => `${key}=${value}`).join("; ");
  const client = service.backOfficeFrom("192.0.2.1");
  const page = { host: HOST, origin: `http://${HOST}`, cookie };
  const request: Client["request"] = (method, path, options = {}) =>
    client.request(method, path, { ...options, headers: { ...page, ...options.headers } });
  return {
    request,
    get: (path, options) => request("GET", path, options),
    post: (path, body, options) => request("POST", path, { ...options, body }),
  };
}

export const setCookies = ({ headers }: Answer): string[] => {
  const sent: unknown = headers["set-cookie"]; // Fastify returns several as a list.
  return sent === undefined ? [] : Array.isArray(sent) ? sent : [String(sent)];
};

let counter = 0;

/** A person who has not signed in yet. */
export async function createPerson(
  { context }: TestService,
  fields: Partial<Pick<Person, "name" | "email" | "grants">> = {},
): Promise<Person> {
  counter += 1;
  const person: Person = {
    id: context.newId(),
    name: `Person ${counter}`,
    email: `person${counter}@example.com`,
    grants: [{ role: "operator" }] satisfies Grant[],
    hasTwoFactor: false,
    hasSingleSignOn: false,
    createdBy: byService("test").actor,
    createdAt: context.clock.now(),
    acceptedAt: null,
    lastSignedInAt: null,
    disabledAt: null,
    ...fields,
  };
  await insertPerson(context.db, person);
  return person;
}

/** Links an account of the identity provider with a person. */
export const linkAccount = ({ context }: TestService, personId: string): Promise<unknown> =>
  context.db.query({
    name: "test-link-account",
    text: `
      insert into person_provider_accounts (person_id, issuer, subject, linked_at)
      values ($1::uuid, 'https://id.example', $1::uuid::text, $2)`,
    values: [personId, context.clock.now()],
  });

/** The token of a new link for a person. */
export async function linkToken(
  { context }: TestService,
  person: Pick<Person, "id">,
  kind: LinkKind,
): Promise<string> {
  const { url } = await context.db.transaction((tx) => makeLink(tx, context, person.id, kind));
  return url.slice(url.indexOf("#token=") + "#token=".length);
}

/** Signs a person in with a link. */
export async function signIn(
  service: TestService,
  person: Person,
  browser = openBrowser(service),
): Promise<Browser> {
  const answer = await browser.post("/auth/sign-in/link", {
    token: await linkToken(service, person, "sign-in"),
  });
  if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
  return browser;
}

export const PASSWORD = "correct horse battery staple";

/** Its hash with small parameters, which hashes keep: one with those of the service takes a tenth of a second, at each sign-in. */
const [SALT, SMALL] = [Buffer.alloc(16, 1), { N: 2 ** 4, r: 1, p: 1 }];
const PASSWORD_HASH = `scrypt$4$1$1$${SALT.toString("base64url")}$${scryptSync(PASSWORD, SALT, 64, SMALL).toString("base64url")}`;

/** A person with a password, and a browser on which it has just signed in. */
export async function createPersonWithPassword(
  service: TestService,
  fields: Parameters<typeof createPerson>[1] = {},
): Promise<{ person: Person; browser: Browser }> {
  const person = await createPerson(service, fields);
  const browser = await signIn(service, person);
  await storePassword(service.db, person.id, PASSWORD_HASH);
  return { person, browser };
}
