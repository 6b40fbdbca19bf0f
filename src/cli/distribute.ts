import { CannotDistributeError, distribute } from "../distribution/distribute.ts";
import { messageOf } from "../monitoring/error-message.ts";
import { readConfig } from "../platform/config.ts";
import { EXIT, type ExitCode } from "./exit-codes.ts";
import { UnavailableError, UsageError } from "./failure.ts";
import { type Output, writeChange } from "./output.ts";

/** `distribute`: splits the tables over the nodes of Citus, and reports each one. */
export async function runDistribute(
  environment: NodeJS.ProcessEnv,
  output: Output,
  shardCount: number,
): Promise<ExitCode> {
  const { databaseUrl } = readConfig(environment);
  if (databaseUrl === null)
    throw new UsageError("distribute needs DATABASE_URL: the address of the coordinator of Citus.");
  let count: number;
  try {
    count = await distribute(databaseUrl, shardCount, (message) => output.note(`${message}\n`));
  } catch (error) {
    if (error instanceof CannotDistributeError) throw error;
    throw new UnavailableError(`The database cannot be used. ${messageOf(error)}`);
  }
  await writeChange(
    output,
    count === 0 ? "All tables are where they should be.\n" : `Moved ${count} tables over the nodes.\n`,
  );
  return EXIT.done;
}
