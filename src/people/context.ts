import type { Context } from "../platform/context.ts";
import type { SecretBox } from "../platform/secret-box.ts";

/** What operations of people need beside the context of all: keys for cookies and second factors. */
export type PeopleContext = Context & { readonly secrets: SecretBox };
