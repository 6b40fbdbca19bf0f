import { createHash, generateKeyPairSync, randomBytes, sign } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Config } from "../../src/platform/config.ts";

/** Who signs in at the identity provider. */
export type Subject = { readonly sub: string; readonly email: string; readonly email_verified: boolean };

export type IdentityProvider = {
  readonly issuer: string;
  /** What a service needs to know of it, so that people can sign in there. */
  readonly config: Pick<Config, "oidcIssuer" | "oidcClientId" | "oidcClientSecret" | "oidcName">;
  /** The identity provider signs in this person from now on. */
  subject: Subject;
  /** Claims of ID tokens beside the usual ones. Null: responses have no ID token, only an access token. */
  claims: object | null;
  /** Responds to no request of a path from now on. */
  hold(path: string): Held;
  /** Signs ID tokens with another key than it publishes from now on. */
  forge(): void;
  close(): Promise<void>;
};

type Held = {
  /** Responds to further requests, but not to those that wait. */
  end(): void;
  /** Responds to all of them. */
  release(): void;
};

const CLIENT = { id: "console", secret: "secret of the console" };

const base64url = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");

/** A small identity provider with OpenID Connect: discovery, authorization code with PKCE, ID tokens by RS256. */
export async function startIdentityProvider(): Promise<IdentityProvider> {
  const keys = generateKeyPairSync("rsa", { modulusLength: 2048 });
  let signingKey = keys.privateKey;
  const holds = new Map<string, Promise<void>>();
  let signedIn: Subject | null = null;
  const codes = new Map<string, { challenge: string; nonce: string | null; subject: Subject }>();
  const server = createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const provider: IdentityProvider = {
    issuer,
    config: {
      oidcIssuer: issuer,
      oidcClientId: CLIENT.id,
      oidcClientSecret: CLIENT.secret,
      oidcName: "Example ID",
    },
    subject: { sub: "nobody", email: "nobody@example.com", email_verified: true },
    claims: {},
    hold: (path) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      holds.set(path, promise);
      const end = () => void holds.delete(path);
      return {
        end,
        release: () => {
          end();
          resolve();
        },
      };
    },
    forge: () => {
      signingKey = generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey;
    },
    close: async () => {
      server.closeAllConnections();
      server.close();
    },
  };

  function idToken({ nonce, subject }: { nonce: string | null; subject: Subject }): string {
    const now = Math.floor(Date.now() / 1_000);
    const claims = {
      iss: issuer,
      aud: CLIENT.id,
      iat: now,
      exp: now + 60,
      ...subject,
      ...(nonce && { nonce }),
      ...provider.claims,
    };
    const signed = `${base64url({ alg: "RS256", kid: "1", typ: "JWT" })}.${base64url(claims)}`;
    return `${signed}.${sign("sha256", Buffer.from(signed), signingKey).toString("base64url")}`;
  }

  server.on("request", async (request, response) => {
    const url = new URL(request.url ?? "/", issuer);
    const json = (body: object, status = 200): void => {
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
    };
    await holds.get(url.pathname);
    if (url.pathname === "/userinfo") return json(signedIn ?? {});
    if (url.pathname === "/.well-known/openid-configuration")
      return json({
        issuer,
        authorization_endpoint: `${issuer}/authorize`,
        token_endpoint: `${issuer}/token`,
        userinfo_endpoint: `${issuer}/userinfo`,
        jwks_uri: `${issuer}/jwks`,
        id_token_signing_alg_values_supported: ["RS256"],
        response_types_supported: ["code"],
        subject_types_supported: ["public"],
      });
    if (url.pathname === "/jwks") {
      const jwk = keys.publicKey.export({ format: "jwk" });
      return json({ keys: [{ ...jwk, kid: "1", alg: "RS256", use: "sig" }] });
    }
    if (url.pathname === "/authorize") {
      const code = randomBytes(16).toString("hex");
      const { searchParams: sent } = url;
      const challenge = sent.get("code_challenge") ?? "";
      codes.set(code, { challenge, nonce: sent.get("nonce"), subject: provider.subject });
      const target = new URL(sent.get("redirect_uri") ?? "");
      target.searchParams.set("code", code);
      target.searchParams.set("state", sent.get("state") ?? "");
      return response.writeHead(302, { location: target.href }).end();
    }
    let text = "";
    for await (const chunk of request) text += String(chunk);
    const form = new URLSearchParams(text);
    const grant = codes.get(form.get("code") ?? "");
    codes.delete(form.get("code") ?? "");
    const verifier = createHash("sha256")
      .update(form.get("code_verifier") ?? "")
      .digest("base64url");
    if (grant === undefined || verifier !== grant.challenge) return json({ error: "invalid_grant" }, 400);
    signedIn = grant.subject;
    const tokens = { access_token: "access", token_type: "Bearer", expires_in: 60 };
    json(provider.claims === null ? tokens : { ...tokens, id_token: idToken(grant) });
  });
  return provider;
}
