import { existsSync } from "node:fs";
import { mkdtemp, readdir, rm, statfs } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { commandsOnCitus } from "../../src/platform/database/commands-on-citus.ts";
import { migrate } from "../../src/platform/database/migrate.ts";
import { startEmbeddedPostgres } from "../../src/platform/embedded-postgres/embedded-postgres.ts";
import { unpackBrowser } from "./chromium.ts";
import { createCitusTemplate } from "./citus.ts";
import { makeFirstPartitions } from "./first-partitions.ts";
import { requireNewVersions } from "./order-versions.ts";

declare module "vitest" {
  export interface ProvidedContext {
    /** A superuser's address of the PostgreSQL of each process that runs tests. */
    databaseUrls: string[];
    /** The addresses of all nodes of Citus, the coordinator first. Empty on a plain PostgreSQL. */
    citusNodes: string[];
    /** `test`: what a change needs, in minutes. `release`: what proves a release. */
    suite: "test" | "release";
  }
}

/** The database on Citus that every test file gets a copy of. Elsewhere its name is in the address. */
export const TEMPLATE = "partner_orders";

/**
 * A power cut during a test run may lose the test database, so it need not wait for the disk. Hundreds of small
 * databases are used once and never again: to look after them all would take more than the tests.
 */
const SETTINGS = { fsync: "off", synchronous_commit: "off", full_page_writes: "off", autovacuum: "off" };

/**
 * A real PostgreSQL for each process that runs tests, with a migrated template that each test file copies. They do not
 * share one: some tests look at all sessions of their server.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  await unpackBrowser();
  const citus = process.env["TEST_CITUS_URL"];
  if (citus !== undefined) {
    const nodes = await createCitusTemplate(citus, TEMPLATE);
    project.provide("citusNodes", nodes);
    project.provide("databaseUrls", nodes.slice(0, 1));
    return async () => undefined;
  }
  const given = process.env["TEST_DATABASE_URL"];
  const servers = given === undefined ? await startServers(project.vitest.config.maxWorkers) : [];
  const urls = given === undefined ? servers.map(({ url }) => url) : [given];
  await Promise.all(
    urls.map(async (url) => {
      await migrate(url, SILENT, commandsOnCitus);
      await requireNewVersions(url);
      await makeFirstPartitions(url);
    }),
  );
  project.provide("databaseUrls", urls);
  project.provide("citusNodes", []);
  return async () => {
    await Promise.all(servers.map(({ stop }) => stop()));
  };
}

const startServers = (count: number) => Promise.all(Array.from({ length: count }, startServer));

/** The memory of a Linux machine as a folder. */
const MEMORY = "/dev/shm";
/** More than both servers need at any time. A container has 64 MB by default. */
const ROOM_BYTES = 4 * 1024 ** 3;
const NAME = "partner-orders-test";
const SILENT = { info: () => undefined, warn: () => undefined };

/**
 * Copies of the template are a thousand files each. In memory they take a fifth of the time
 * (docs/design/testing.md, "What makes a run short").
 */
async function serversFolder(): Promise<string> {
  const room = await statfs(MEMORY).catch(() => null);
  if (room === null || room.bavail * room.bsize < ROOM_BYTES) return tmpdir();
  await deleteAbandoned(MEMORY);
  return MEMORY;
}

/** A run that was killed could not delete its own folders, and memory is not freed otherwise until the machine restarts. */
async function deleteAbandoned(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const [, run] = new RegExp(`^${NAME}-(\\d+)-`).exec(name) ?? [];
    if (run !== undefined && !existsSync(`/proc/${run}`))
      await rm(join(folder, name), { recursive: true, force: true });
  }
}

async function startServer(): Promise<{ url: string; stop(): Promise<void> }> {
  const dataDir = await mkdtemp(join(await serversFolder(), `${NAME}-${process.pid}-`));
  const postgres = await startEmbeddedPostgres({ dataDir, settings: SETTINGS });
  return {
    url: postgres.url,
    stop: async () => {
      await postgres.stop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}
