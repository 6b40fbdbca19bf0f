import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { migrate } from "../../src/platform/database/migrate.ts";
import { startEmbeddedPostgres } from "../../src/platform/embedded-postgres/embedded-postgres.ts";

declare module "vitest" {
  export interface ProvidedContext {
    /** A superuser's address of the run's PostgreSQL. */
    databaseUrl: string;
  }
}

/** The database that every test file gets a copy of. */
export const TEMPLATE = "partner_orders";

/**
 * A power cut during a test run may lose the test database, so it need not wait for the disk. Hundreds of small
 * databases are used once and never again: to look after them all would take more than the tests.
 */
const SETTINGS = { fsync: "off", synchronous_commit: "off", full_page_writes: "off", autovacuum: "off" };

/** One real PostgreSQL for the whole run, with a migrated template that each test file copies. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const given = process.env["TEST_DATABASE_URL"];
  const dataDir = await mkdtemp(join(tmpdir(), "partner-orders-test-"));
  const postgres = given === undefined ? await startEmbeddedPostgres({ dataDir, settings: SETTINGS }) : null;
  const url = postgres?.url ?? given ?? "";
  await migrate(url, () => undefined);
  project.provide("databaseUrl", url);
  return async () => {
    await postgres?.stop();
    await rm(dataDir, { recursive: true, force: true });
  };
}
