import { copyFile, mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readConfig } from "../../src/platform/config.ts";
import { createLog } from "../../src/platform/log.ts";
import { type DemoPerson, ensureDemo } from "../../src/service/demo.ts";
import { startService } from "../../src/service/start.ts";
import { freePort } from "./free-port.ts";
import { createDatabase } from "./test-service.ts";

/** A service with demo data, as `npm start` starts it, with the clock of the machine. */
export type Demo = {
  readonly api: string;
  readonly backOffice: string;
  readonly databaseUrl: string;
  readonly operatorToken: string;
  readonly testKey: string;
  readonly productIds: readonly string[];
  /** A link for each role, with which one is signed in. */
  readonly people: readonly DemoPerson[];
  /** Copies the files that `npm start` leaves in `.data`. */
  copyFiles(folder: string): Promise<void>;
  close(): Promise<void>;
};

export async function startDemo(): Promise<Demo> {
  const dataDir = await mkdtemp(join(tmpdir(), "partner-orders-demo-"));
  const databaseUrl = await createDatabase();
  const config = readConfig({
    DATABASE_URL: databaseUrl,
    DATA_DIR: dataDir,
    PORT: "0",
    BACK_OFFICE_PORT: String(await freePort()),
    RATE_LIMIT_PER_MINUTE: "0",
    WEBHOOK_ALLOW_PRIVATE_NETWORKS: "true",
    SHUTDOWN_DELAY_MS: "0",
  });
  const service = await startService(config, createLog("silent"));
  const data = await ensureDemo(service.context);
  const { testKey, productIds, people } = data;
  return {
    api: String(service.partnerApiUrl),
    backOffice: String(service.backOfficeUrl),
    databaseUrl,
    operatorToken: (await readFile(join(dataDir, "operator-token"), "utf8")).trim(),
    testKey,
    productIds,
    people,
    copyFiles: async (folder) => {
      await mkdir(join(folder, ".data"));
      for (const name of ["demo.json", "operator-token", "webhook-secret-key"])
        await copyFile(join(dataDir, name), join(folder, ".data", name));
    },
    close: async () => {
      await service.stop();
      await rm(dataDir, { recursive: true });
    },
  };
}
