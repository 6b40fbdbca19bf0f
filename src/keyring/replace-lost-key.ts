import type { Initiator } from "../audit/initiator.ts";
import { replaceLostCodes } from "../people/sealed-codes/replace-lost-codes.ts";
import type { WebhookContext } from "../webhooks/context.ts";
import { replaceLostSecrets } from "../webhooks/secrets/replace-lost-secrets.ts";

/** Endpoints that were paused with a new signing secret, and people whose one-time codes were deleted. */
export type Replaced = { readonly endpoints: number; readonly people: number };

/** Replaces or deletes everything that a lost key has encrypted (decisions 0224 and 0225). */
export async function replaceLostKey(
  context: WebhookContext,
  lostKeyId: string,
  by: Initiator,
): Promise<Replaced> {
  return {
    endpoints: await replaceLostSecrets(context, lostKeyId, by),
    people: await replaceLostCodes(context, lostKeyId, by),
  };
}
