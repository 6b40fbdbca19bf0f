import { isCurrency } from "../currencies.ts";
import { isAmount } from "../money.ts";
import { COUNTRY_CODE_FORM, countryCodeDetail, isCountryCode } from "./countries.ts";
import { isStorableText } from "./text.ts";

type Format = {
  readonly isValid: (text: string) => boolean;
  /** What an invalid value must be, as a message that follows the name of the field. */
  readonly detail: (text: string) => string;
  /**
   * What the OpenAPI documents show instead, because no client knows our formats: a regular expression that every valid
   * value matches. It uses only what all languages have, so it has no look-around.
   */
  readonly pattern: string;
};

/** The formats that only this service has. Decision 0078. */
export const OWN_FORMATS: Readonly<Record<string, Format>> = {
  text: {
    isValid: isStorableText,
    detail: () => "must not contain NUL characters or unpaired surrogates",
    pattern: "^[^\\u0000]*$",
  },
  "path-segment": {
    isValid: (text) => isStorableText(text) && text !== "." && text !== "..",
    detail: () => "must not be . or .., and must not contain NUL characters or unpaired surrogates",
    pattern: "^((\\.{3}|\\.{0,2}[^.\\u0000])[^\\u0000]*)?$",
  },
  // Clients show these as links and images, so schemes that run code must not be among them.
  "web-address": {
    isValid: (text) => /^https?:\/\/\S+$/i.test(text) && isStorableText(text) && URL.canParse(text),
    detail: () => "must be a URL that begins with https:// or http://",
    pattern: "^[Hh][Tt][Tt][Pp][Ss]?://\\S+$",
  },
  "country-code": {
    isValid: isCountryCode,
    detail: countryCodeDetail,
    pattern: COUNTRY_CODE_FORM,
  },
  // What a scanner sends is ASCII, and the space at an end would not be seen.
  barcode: {
    isValid: (text) => /^[!-~]([ -~]*[!-~])?$/.test(text),
    detail: () => "must be ASCII characters without spaces at the ends",
    pattern: "^[!-~]([ -~]*[!-~])?$",
  },
  amount: {
    isValid: isAmount,
    detail: () => "must be a decimal amount such as 12.50",
    pattern: "^[0-9]{1,15}(\\.[0-9]{1,6})?$",
  },
  currency: {
    isValid: isCurrency,
    detail: () => "must be an ISO 4217 currency code such as EUR",
    pattern: "^[A-Z]{3}$",
  },
};

/** The formats of JSON Schema that the service uses. Clients know them. */
export const STANDARD_FORMATS: readonly string[] = ["date-time", "email", "uri", "uuid"];
