import { openService } from "../app/open-service.ts";
import { systemClock } from "../platform/clock.ts";
import { readConfig } from "../platform/config.ts";
import { counted } from "../platform/wire/text.ts";
import { replaceLostSecrets } from "../webhooks/secrets/replace-lost-secrets.ts";
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
    const actor = { kind: "operator", name: operatorName() } as const;
    const by = { actor, requestId: null, action: "replaceLostSecrets" };
    const count = await replaceLostSecrets(service.context, lostKeyId, by);
    await writeChange(
      output,
      count === 0
        ? `No endpoint has a secret that is encrypted with the key ${lostKeyId}.\n`
        : `Paused ${counted(count, "endpoint")} with a new secret: their partners rotate the secret and resume.\n`,
    );
    return EXIT.done;
  } finally {
    await service.close();
  }
}
