import { openService } from "../app/open-service.ts";
import { type Replaced, replaceLostKey } from "../keyring/replace-lost-key.ts";
import { runningProcesses } from "../monitoring/processes/running-processes.ts";
import { systemClock } from "../platform/clock.ts";
import { readConfig } from "../platform/config.ts";
import type { Context } from "../platform/context.ts";
import { counted } from "../platform/wire/text.ts";
import { cliLog, operatorName, orUnavailable } from "./back-office/in-process.ts";
import { EXIT, type ExitCode } from "./exit-codes.ts";
import { UsageError } from "./failure.ts";
import { type Output, writeChange } from "./output.ts";

/** `replace-lost-secrets`: the way back if no copy of a key is left. The id of the key is the confirmation. */
export async function runReplaceLostSecrets(
  environment: NodeJS.ProcessEnv,
  output: Output,
  lostKeyId: string,
): Promise<ExitCode> {
  const config = readConfig(environment);
  const log = cliLog(environment, config);
  const service = await orUnavailable(openService(config, log, systemClock, "as-it-is", { lostKeyId }));
  try {
    if (service.context.secrets.knows(lostKeyId))
      throw new UsageError(`The key ${lostKeyId} is configured: what it encrypts is not lost.`);
    await requireNoProcess(service.context);
    const actor = { kind: "operator", name: operatorName() } as const;
    const by = { actor, requestId: null, action: "replaceLostSecrets" };
    await writeChange(output, textOf(await replaceLostKey(service.context, lostKeyId, by), lostKeyId));
    return EXIT.done;
  } finally {
    await service.close();
  }
}

/** A process that runs perhaps has the key: it does not start without. */
async function requireNoProcess(context: Pick<Context, "db" | "clock">): Promise<void> {
  const [running] = await runningProcesses(context);
  if (running === undefined) return;
  const { host, pid, seenAt } = running;
  throw new UsageError(
    `A process runs that perhaps has the key: ${pid} on ${host}, seen at ${seenAt.toISOString()}. Look for the key there, or stop it. If it was killed, wait for a minute.`,
  );
}

function textOf({ endpoints, people }: Replaced, lostKeyId: string): string {
  if (endpoints + people === 0) return `Nothing is encrypted with the key ${lostKeyId}.\n`;
  const paused = `Paused ${counted(endpoints, "endpoint")} with a new secret: their partners rotate the secret and resume.\n`;
  const whose = people === 1 ? "1 person" : `${people} people`;
  const deleted = `Deleted the one-time codes of ${whose}, which stay required: make a link for each (person link), who then removes the codes and sets them up again.\n`;
  return `${endpoints > 0 ? paused : ""}${people > 0 ? deleted : ""}`;
}
