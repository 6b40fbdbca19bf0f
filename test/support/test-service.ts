import { randomUUID } from "node:crypto";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";
import pg from "pg";
import { onTestFinished, inject as provided } from "vitest";
import type { BackOfficeCaller, Grant, Role } from "../../src/audit/grant.ts";
import { createBackOffice } from "../../src/back-office/app.ts";
import { type BackOfficeAuthentication, tokenAuthentication } from "../../src/back-office/authentication.ts";
import { sessionAuthentication } from "../../src/back-office/people/session-authentication.ts";
import { createPartnerApi } from "../../src/partner-api/app.ts";
import type { PartnerDatabases } from "../../src/partner-api/operations.ts";
import { type Config, readConfig } from "../../src/platform/config.ts";
import type { ConnectionKey } from "../../src/platform/connection-key.ts";
import type { Context } from "../../src/platform/context.ts";
import { splitCommands } from "../../src/platform/database/commands-on-citus.ts";
import { type Database, openDatabase, type Pool } from "../../src/platform/database/database.ts";
import { type NewId, newIdsFrom } from "../../src/platform/ids.ts";
import { createLog } from "../../src/platform/log.ts";
import { createMetrics } from "../../src/platform/metrics.ts";
import { createSecretBox } from "../../src/platform/secret-box.ts";
import { NO_SIGNALS } from "../../src/platform/signals.ts";
import { WORKBOOK_TYPE } from "../../src/platform/tables/write-table.ts";
import type { WebhookContext } from "../../src/webhooks/conditions-sql.ts";
import { type AnswerCheck, answerCheckOf } from "./answer-check.ts";
import { copyTemplate, createOnNodes, dropCopies } from "./citus.ts";
import { TEMPLATE } from "./global-setup.ts";
import { addressOfKept, reused, type TestDatabase } from "./reused-databases.ts";
import { createTestClock, type TestClock } from "./test-clock.ts";

/** Imports keep their rows there. */
const DATA_FOLDER = join(tmpdir(), "partner-orders-tests");

export const OPERATOR_TOKEN = "operator-token-of-the-tests";

// biome-ignore lint/suspicious/noExplicitAny: a test states what it expects of a body; the answer check has its shape.
export type Answer = { status: number; headers: Record<string, string | undefined>; body: any };
export type RequestOptions = {
  body?: unknown;
  headers?: Record<string, string | string[]>;
  rawBody?: string | Buffer;
};

export type Client = {
  get(path: string, options?: RequestOptions): Promise<Answer>;
  post(path: string, body?: unknown, options?: RequestOptions): Promise<Answer>;
  request(method: string, path: string, options?: RequestOptions): Promise<Answer>;
};

export type TestService = {
  context: WebhookContext;
  clock: TestClock;
  db: Database;
  /** A client of the partner API with this key; without one it sends none. */
  partner(key?: string): Client;
  backOffice: Client;
  /** A client of the back office with another token than the operator's; without one it sends none. */
  backOfficeAs(token?: string): Client;
  /** A request of the back office that its description does not have. */
  inject: ReturnType<typeof createBackOffice>["inject"];
  /** A client of the partner API without a key, from this address. */
  partnerFrom(address: string): Client;
  /** A client of the back office without a token, from this address. */
  backOfficeFrom(address: string): Client;
  /** A client of the back office that acts as a person with one role, or with these grants. */
  backOfficeFor(person: TestPerson): Client;
  close(): Promise<void>;
};

/** `merchantIds` and the like: what the role is for. Without `facilityIds` the warehouse is for all facilities. */
type TestPerson = { readonly name: string } & (
  | {
      readonly kind: Role;
      readonly merchantIds?: readonly string[];
      readonly facilityIds?: readonly string[];
      readonly connections?: readonly ConnectionKey[];
    }
  | { readonly grants: readonly Grant[] }
);

function callerOf(person: TestPerson): BackOfficeCaller {
  const named = { type: "person", id: null, name: person.name } as const;
  if ("grants" in person) return { ...named, grants: person.grants };
  const { kind: role, merchantIds = [], facilityIds = null, connections = [] } = person;
  if (role === "merchant") return { ...named, grants: [{ role, merchantIds }] };
  if (role === "partner") return { ...named, grants: [{ role, connections }] };
  return { ...named, grants: [role === "warehouse" ? { role, facilityIds } : { role }] };
}

/** A test names the person by its token, so that it need not sign in. */
const PERSON = "person:";
function testAuthentication(context: Context): BackOfficeAuthentication {
  const program = tokenAuthentication(OPERATOR_TOKEN, context);
  return async (request) => {
    const [, caller] = request.headers.authorization?.split(PERSON) ?? [];
    return caller === undefined ? program(request) : JSON.parse(decodeURIComponent(caller));
  };
}

/** The server of this process. */
function serverUrl(): URL {
  const urls = provided("databaseUrls");
  const processNumber = Number(process.env["VITEST_POOL_ID"]); // From 1 on.
  return new URL(urls[(processNumber - 1) % urls.length] ?? "");
}

/** Databases that the file in progress has made. */
const copies: string[] = [];

/** Their files would take 20 GB until the end of a run. On Citus there is also a process for each one on each node. */
export async function dropDatabases(): Promise<void> {
  await reused.closeAll();
  const nodes = provided("citusNodes");
  const servers = nodes.length > 0 ? nodes : [withDatabase(serverUrl(), "postgres")];
  await dropCopies(servers, copies.splice(0));
}

/** A new database on Citus without tables; returns its address. */
export async function createCitusDatabase(): Promise<string> {
  const name = `test_${randomUUID().replaceAll("-", "")}`;
  copies.push(name);
  return createOnNodes(provided("citusNodes"), name);
}

/** Some tests make statements fail by triggers. The service has none. */
const FAULTS_ON_CITUS = "-c citus.enable_unsafe_triggers=on";

/** Citus takes one command at a time. */
const runningSeparately = (db: Pool): Pool => ({
  ...db,
  runScript: (sql) =>
    db.withClient(async (client) => {
      for (const command of splitCommands(sql)) await client.query(command);
    }),
});

/** A new, empty, migrated database; returns its address. */
export async function createDatabase(): Promise<string> {
  const url = serverUrl();
  const name = `test_${randomUUID().replaceAll("-", "")}`;
  copies.push(name);
  const citusNodes = provided("citusNodes");
  if (citusNodes.length > 0) {
    await copyTemplate(citusNodes, TEMPLATE, name);
    return `${withDatabase(url, name)}?options=${encodeURIComponent(FAULTS_ON_CITUS)}`;
  }
  const admin = openDatabase({ url: withDatabase(url, "postgres"), connectionsMax: 1, onIdleError() {} });
  const template = pg.escapeIdentifier(decodeURIComponent(url.pathname.slice(1)));
  // Copying the files takes half of what writing their pages to the log takes.
  await admin.runScript(`create database ${name} template ${template} strategy file_copy`);
  await admin.close();
  return withDatabase(url, name);
}

function withDatabase(url: URL, name: string): string {
  const copy = new URL(url);
  copy.pathname = `/${name}`;
  return copy.href;
}

/** The database that is given, one that a test before in this file has left empty, or a new one. */
async function openFor(given: string | undefined): Promise<TestDatabase> {
  const left = given === undefined ? reused.take() : undefined;
  if (left !== undefined) return left;
  const url = given ?? (await createDatabase());
  const open = (address: string) =>
    openDatabase({ url: address, connectionsMax: 10, onIdleError: () => undefined });
  const isOnCitus = provided("citusNodes").length > 0;
  if (given === undefined && !isOnCitus) return reused.lend(url, open(addressOfKept(url)));
  const opened = open(url);
  return { url, db: isOnCitus ? runningSeparately(opened) : opened, giveBack: () => opened.close() };
}

/** Both listeners on a database of their own, with a clock that the test moves; requests are injected in-process. */
export async function startTestService(
  options: {
    config?: Partial<Config>;
    databaseUrl?: string;
    /** Gives the partner API connections of its own for each kind of work. By default one pool is for everything. */
    partnerPools?: (url: string) => Record<keyof PartnerDatabases, Pool>;
    /** Makes ids. By default they are as random as those of a service. */
    newIds?: (clock: TestClock) => NewId;
    /** What encrypts secrets, newest first. */
    secretKeys?: readonly Buffer[];
  } = {},
): Promise<TestService> {
  const clock = createTestClock();
  const { url, db, giveBack } = await openFor(options.databaseUrl);
  const config: Config = {
    ...readConfig({ RATE_LIMIT_PER_MINUTE: "0", DATA_DIR: DATA_FOLDER }),
    databaseUrl: url,
    ...options.config,
  };
  const context: WebhookContext = {
    config,
    clock,
    newId: (options.newIds ?? newIdsFrom)(clock),
    db,
    log: createLog("silent"),
    secrets: createSecretBox(options.secretKeys ?? [Buffer.alloc(32, 1)]),
    signals: NO_SIGNALS,
  };
  const metrics = createMetrics();
  const pools = options.partnerPools?.(url);
  const partnerApi = createPartnerApi(context, metrics, pools);
  const authenticate = sessionAuthentication(context, testAuthentication(context));
  const backOffice = createBackOffice(context, authenticate, metrics);
  const [partnerCheck, check] = await checksOf(config, backOffice);
  return {
    context,
    clock,
    db,
    partner: (key) => clientOf(partnerApi, key, partnerCheck),
    partnerFrom: (address) => clientOf(partnerApi, undefined, partnerCheck, address),
    backOffice: clientOf(backOffice, OPERATOR_TOKEN, check),
    backOfficeAs: (token) => clientOf(backOffice, token, check),
    inject: backOffice.inject.bind(backOffice),
    backOfficeFrom: (address) => clientOf(backOffice, undefined, check, address),
    backOfficeFor: (person) =>
      clientOf(backOffice, `${PERSON}${encodeURIComponent(JSON.stringify(callerOf(person)))}`, check),
    close: async () => {
      await Promise.all([partnerApi.close(), backOffice.close()]);
      await Promise.all(Object.values(pools ?? {}).map((pool) => pool.close()));
      await giveBack();
    },
  };
}

const checks = new Map<string, Promise<readonly [AnswerCheck, AnswerCheck]>>();

/** The checks of both listeners. Services with the same addresses have the same documents. */
function checksOf(
  { baseUrl, errorsBaseUrl, backOfficePort }: Config,
  backOffice: ReturnType<typeof createBackOffice>,
): Promise<readonly [AnswerCheck, AnswerCheck]> {
  const read = async (path: string) => answerCheckOf((await backOffice.inject(path)).body);
  const addresses = JSON.stringify([baseUrl, errorsBaseUrl, backOfficePort]);
  const known =
    checks.get(addresses) ?? Promise.all([read("/openapi.json"), read("/openapi-back-office.json")]);
  checks.set(addresses, known);
  return known;
}

/** For a single test: closed when the test has finished. */
export async function startServiceForTest(
  options?: Parameters<typeof startTestService>[0],
): Promise<TestService> {
  const started = await startTestService(options);
  onTestFinished(started.close);
  return started;
}

/** Its response has no end. */
const STREAM_PATH = "/api/updates";

/** The response to a request for a stream, which is closed at once. */
async function openAndClose(
  app: Pick<ReturnType<typeof createPartnerApi>, "inject">,
  path: string,
  key: string | undefined,
  headers: Readonly<Record<string, string | string[]>>,
): Promise<Answer> {
  const { stream, ...answer } = await openStream(app, path, {
    ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
    ...headers,
  });
  const text = answer.status === 200 ? "" : await new Response(stream as never).text(); // A stream of Node is an iterable of bytes.
  stream.destroy();
  return { ...answer, body: text === "" ? text : JSON.parse(text) };
}

/** Sends a request whose response is read as it arrives. */
export async function openStream(
  app: Pick<ReturnType<typeof createPartnerApi>, "inject">,
  path: string,
  headers: Readonly<Record<string, string | string[]>>,
): Promise<{ status: number; headers: Answer["headers"]; stream: Readable }> {
  const answer = await app.inject({ method: "GET", url: path, headers, payloadAsStream: true });
  return {
    status: answer.statusCode,
    headers: answer.headers as Answer["headers"],
    stream: answer.stream(),
  };
}

const isJson = (mediaType: unknown): boolean => /^application\/(\w+\+)?json/.test(String(mediaType));

function clientOf(
  app: ReturnType<typeof createPartnerApi>,
  key: string | undefined,
  check: AnswerCheck,
  remoteAddress = "127.0.0.1",
): Client {
  async function request(
    method: string,
    path: string,
    { body, rawBody, headers = {} }: RequestOptions = {},
  ): Promise<Answer> {
    if (path === STREAM_PATH) return openAndClose(app, path, key, headers);
    const payload = rawBody ?? (body === undefined ? undefined : JSON.stringify(body));
    const answer = await app.inject({
      method: method as "GET",
      url: path,
      remoteAddress,
      headers: {
        ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
        ...(payload === undefined ? {} : { "content-type": "application/json" }),
        ...headers,
      },
      ...(payload === undefined ? {} : { payload }),
    });
    check(method, path, { status: answer.statusCode, headers: answer.headers, body: answer.body });
    return {
      status: answer.statusCode,
      headers: answer.headers as Record<string, string | undefined>,
      body: isJson(answer.headers["content-type"])
        ? answer.json()
        : answer.headers["content-type"] === WORKBOOK_TYPE
          ? answer.rawPayload
          : answer.body || undefined,
    };
  }
  return {
    request,
    get: (path, options) => request("GET", path, options),
    post: (path, body, options) => request("POST", path, { ...options, body }),
  };
}
