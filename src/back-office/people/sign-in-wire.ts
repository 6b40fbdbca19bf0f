import { Type } from "typebox";
import { routeTable } from "../../http/route.ts";
import type { Code } from "../../people/one-time-codes.ts";
import { PASSWORD_LENGTH_MAX, PASSWORD_LENGTH_MIN, type People, type Visitor } from "../../people/person.ts";
import type { Own } from "../../people/sessions.ts";

/** Declares a row of the table of sign-in. Its callers have not signed in yet. */
export const route = routeTable<People, Visitor>();

/** Declares a row of the same table whose callers have a session. */
export const ownRoute = routeTable<People, Own>();

export const NewPasswordSchema = Type.String({
  minLength: PASSWORD_LENGTH_MIN,
  maxLength: PASSWORD_LENGTH_MAX,
  examples: ["correct horse battery staple"],
  description: "The new password, of 12 characters or more. A few words are easier to remember than signs.",
});

export const codeFields = {
  code: Type.String({
    minLength: 1,
    maxLength: 40,
    examples: ["123456"],
    description: "Six digits of the person's device, or a backup code.",
  }),
  isBackupCode: Type.Optional(
    Type.Boolean({ default: false, description: "Whether it is a backup code, each of which is good once." }),
  ),
};

export const codeOf = ({
  code,
  isBackupCode = false,
}: {
  readonly code: string;
  readonly isBackupCode?: boolean;
}): Code => ({
  code,
  isBackupCode,
});

/** What a browser makes of WebAuthn's own objects. @simplewebauthn/server checks the members. */
const webAuthn = (description: string) =>
  Type.Record(Type.String({ maxLength: 100 }), Type.Unknown(), { maxProperties: 30, description });

export const webAuthnResponse = webAuthn(
  "What the browser has returned, as its `toJSON()` gives it (WebAuthn).",
);

export const WebAuthnOptionsSchema = Type.Object(
  {
    options: webAuthn("What the browser's `navigator.credentials` takes, as JSON (WebAuthn)."),
  },
  { title: "PasskeyOptions", description: "A challenge for a passkey." },
);
