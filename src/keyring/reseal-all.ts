import { resealCodes } from "../people/sealed-codes/reseal-codes.ts";
import type { WebhookContext } from "../webhooks/context.ts";
import { resealSecrets } from "../webhooks/secrets/reseal-secrets.ts";

/** Encrypts with the newest key everything that was encrypted with another one. Returns how many secrets, and codes of people. */
export const resealAll = async (context: WebhookContext, stopping?: AbortSignal): Promise<number> =>
  (await resealSecrets(context, stopping)) + (await resealCodes(context, stopping));
