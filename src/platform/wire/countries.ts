import type { Violation } from "./rules.ts";

/**
 * The assigned alpha-2 codes of ISO 3166-1, and XK for Kosovo, which is not assigned but used by carriers
 * (docs/design/creating-orders.md, "Country codes"). From iso3166.tab of the IANA time zone database 2025b (public domain): the
 * last change was SS in 2011. Node's own data also has withdrawn, reserved and private codes, and differs from version to
 * version.
 */
const CODES = `
  AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BV BW BY BZ
  CA CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES ET FI FJ FK FM FO FR
  GA GB GD GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE JM JO JP
  KE KG KH KI KM KN KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ MR MS MT
  MU MV MW MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW PY QA RE RO RS RU RW
  SA SB SC SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF TG TH TJ TK TL TM TN TO TR TT TV TW TZ
  UA UG UM US UY UZ VA VC VE VG VI VN VU WF WS XK YE YT ZA ZM ZW`;

const ASSIGNED: ReadonlySet<string> = new Set(CODES.trim().split(/\s+/));

/** What is meant by codes that are often sent by mistake: codes of languages, of cars, of the EU, and withdrawn ones. */
const MEANT: Readonly<Record<string, string>> = {
  UK: "GB",
  EN: "GB",
  EL: "GR",
  SP: "ES",
  DA: "DK",
  JA: "JP",
  KO: "KR",
  ZH: "CN",
  KS: "XK",
  KV: "XK",
  DD: "DE",
  FX: "FR",
  TP: "TL",
  ZR: "CD",
  BU: "MM",
  AN: "CW BQ SX",
};

export const COUNTRY_CODE_FORM = "^[A-Za-z]{2}$";
const TWO_LETTERS = new RegExp(COUNTRY_CODE_FORM);

/** Whether a text is the code of a country, in upper or lower case. */
export const isCountryCode = (text: string): boolean =>
  TWO_LETTERS.test(text) && ASSIGNED.has(text.toUpperCase()); // The upper case of ß has two letters.

/** The rule by which a text is not a country code, and what to send instead. */
export function countryCodeError(text: string): Violation {
  if (!TWO_LETTERS.test(text)) return { rule: "format", format: "country-code" };
  const insteadOf = text.toUpperCase();
  const meant = MEANT[insteadOf];
  return meant === undefined ? { rule: "country" } : { rule: "country", use: meant.split(" "), insteadOf };
}
