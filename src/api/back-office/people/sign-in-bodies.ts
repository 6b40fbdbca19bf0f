import { type Static, Type } from "typebox";
import type { Code } from "../../../people/sign-in/sign-in-with-code.ts";
import { isReturnPath } from "../../../people/sign-in/sign-in-with-provider.ts";
import { notFound, type ValidationError } from "../../../platform/wire/problems.ts";
import { nullable } from "../../../platform/wire/schemas.ts";
import { valueAt } from "../money/amounts.ts";

const codeFields = {
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

export const CodeSchema = Type.Object(codeFields, { title: "CodeSignIn", description: "A one-time code." });

export const codeOf = ({ code, isBackupCode = false }: Static<typeof CodeSchema>): Code => ({
  code: code.replaceAll(" ", ""),
  isBackupCode,
});

/** What a browser makes of WebAuthn's own objects. better-auth checks the members. */
const webAuthn = (description: string) =>
  Type.Record(Type.String({ maxLength: 100 }), Type.Unknown(), { maxProperties: 30, description });

export const webAuthnResponse = webAuthn(
  "What the browser has returned, as its `toJSON()` gives it (WebAuthn).",
);

export const WebAuthnResponseSchema = Type.Object(
  { response: webAuthnResponse },
  { title: "PasskeySignIn", description: "What a device has signed." },
);

export const WebAuthnOptionsSchema = Type.Object(
  {
    options: webAuthn("What the browser's `navigator.credentials` takes, as JSON (WebAuthn)."),
  },
  { title: "PasskeyOptions", description: "A challenge for a passkey." },
);

export const MethodsSchema = Type.Object(
  {
    singleSignOn: nullable(
      Type.Object(
        { name: Type.String({ description: "What the button calls the identity provider." }) },
        { title: "SingleSignOn", description: "The identity provider that the operator has configured." },
      ),
      "The identity provider. Null if none is configured.",
    ),
  },
  { title: "SignInMethods", description: "How one can sign in, beside password, passkey and link." },
);

export const RedirectSchema = Type.Object(
  { url: Type.String({ description: "Address at the identity provider that the browser must open." }) },
  { title: "Redirect", description: "Where the sign-in continues." },
);

/** Any value: who comes with one that is not valid goes to the sign-in page, not to a problem in JSON. */
const parameter = (description: string) => Type.Optional(Type.Unknown({ description }));

/** What identity providers add to the address. */
export const CallbackSchema = Type.Object({
  code: parameter("The code that stands for the sign-in at the identity provider."),
  state: parameter("What the service sent along, to recognize its own request."),
  error: parameter("Why the identity provider did not sign the person in."),
  error_description: parameter("The same in words."),
  iss: parameter("The identity provider, as it names itself."),
});

export const noProvider = notFound("identity provider");

/** The page that follows a sign-in must be one of this service. */
export function returnErrors(body: unknown): ValidationError[] {
  const path = valueAt(body, "/returnTo");
  return typeof path !== "string" || isReturnPath(path)
    ? []
    : [{ pointer: "/returnTo", detail: "must be the path of a page, such as /orders" }];
}
