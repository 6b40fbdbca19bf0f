import type { Context } from "../platform/context.ts";
import type { SecretBox } from "../platform/secret-box.ts";

/** What operations on webhooks need beside the context: the encryption of signing secrets. */
export type WebhookContext = Context & { readonly secrets: SecretBox };
