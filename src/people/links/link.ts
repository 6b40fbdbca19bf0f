import { createHash, randomBytes } from "node:crypto";
import { DAY_MS, HOUR_MS } from "../../platform/time.ts";

/** What a link is for. */
export type LinkKind = "invitation" | "reset" | "sign-in" | "demo";

/** The links of one person. All but those of the demo, which stay as long as it runs. */
export const PERSONAL_LINKS: readonly LinkKind[] = ["invitation", "reset", "sign-in"];

/** How long a link is valid. */
export const LINK_LIFETIMES_MS: Readonly<Record<LinkKind, number>> = {
  invitation: 7 * DAY_MS,
  reset: HOUR_MS,
  "sign-in": HOUR_MS,
  demo: 7 * DAY_MS,
};

/** The pages of the console that a link opens. */
const PAGES: Readonly<Record<LinkKind, string>> = {
  invitation: "welcome",
  reset: "reset-password",
  "sign-in": "sign-in",
  demo: "sign-in",
};

const TOKEN = /^pol_[A-Za-z0-9_-]{43}$/;

/** 256 random bits, with a prefix that secret scanners can find. */
export const makeLinkToken = (): string => `pol_${randomBytes(32).toString("base64url")}`;

/** Whether a text has the form of a link's token. Another one is rejected without a look into the database. */
export const isLinkToken = (text: string): boolean => TOKEN.test(text);

export const hashLinkToken = (token: string): Buffer => createHash("sha256").update(token).digest();

/**
 * The address of a link. The token is in the fragment, which browsers do not send: it appears in no log, and a program that
 * only follows the links of a mail does not use it up.
 */
export const linkUrl = (backOfficeUrl: string, kind: LinkKind, token: string): string =>
  `${backOfficeUrl}/${PAGES[kind]}#token=${token}`;
