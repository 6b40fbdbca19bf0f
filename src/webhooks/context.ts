import type { Context } from "../platform/context.ts";
import type { SecretBox } from "../platform/secret-box.ts";

/** The context of webhook operations, which also need the encryption of signing secrets. */
export type WebhookContext = Context & { readonly secrets: SecretBox };
