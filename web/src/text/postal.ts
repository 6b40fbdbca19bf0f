/** An address with the fields of the API. What is not known is null; `-` stands for what a person or a country does not have. */
export type PostalAddress = {
  readonly name: string | null;
  readonly company: string | null;
  readonly address1: string;
  readonly address2: string | null;
  readonly city: string;
  readonly zip: string | null;
  readonly stateCode: string | null;
  readonly countryCode: string;
};

/**
 * The lines of an address in the order of its country, each with its parts, without the country itself. No field is lost: what the
 * country has no place for stands in a line of its own (docs/design/console.md, "Addresses").
 */
export function postalLines(to: PostalAddress): readonly string[][] {
  const { name, company, countryCode } = to;
  const isOwnScript = OWN_SCRIPT.test(to.city) || OWN_SCRIPT.test(to.address1);
  const own = isOwnScript ? LARGEST_FIRST[countryCode] : undefined;
  const persons = [given(name), given(company)].flatMap((part) => (part === "" ? [] : [[part]]));
  const place = placeLines(own ?? LINES_OF.get(countryCode) ?? "A|Z C", to);
  return own === undefined ? [...persons, ...place] : [...place, ...persons.reverse()];
}

/** `A` is the street, `Z` the postal code, `C` the city, `S` the state. What stands beside a letter belongs to it; `|` ends a line. */
function placeLines(template: string, to: PostalAddress): string[][] {
  const fields: Record<string, string> = { Z: given(to.zip), C: given(to.city), S: given(to.stateCode) };
  const streets = [given(to.address1), given(to.address2)].filter((part) => part !== "");
  const lines = template
    .split("|")
    .flatMap((line) => (line === "A" ? streets.map((street) => [street]) : [lineOf(line, fields)]));
  const others = Object.keys(fields).filter((key) => !template.includes(key));
  return [...lines, ...others.map((key) => [fields[key] ?? ""])]
    .map((parts) => parts.filter((part) => part !== ""))
    .filter((parts) => parts.length > 0);
}

function lineOf(line: string, fields: Readonly<Record<string, string>>): string[] {
  const parts = line.split(" ").flatMap((token) => {
    const present = [...token].filter((sign) => fields[sign]).map((sign) => fields[sign] ?? "");
    const isWhole = [...token].every((sign) => !/[ZCS]/.test(sign) || fields[sign]);
    if (present.length === 0) return [];
    return [isWhole ? token.replace(/[ZCS]/g, (sign) => fields[sign] ?? "") : present.join(" ")];
  });
  const last = parts.pop();
  return last === undefined ? [] : [...parts, last.replace(/,$/, "")];
}

const given = (part: string | null): string => (part === null || /^\s*[-–—]?\s*$/.test(part) ? "" : part);

/** Chinese, Japanese and Korean letters. */
const OWN_SCRIPT = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u;

/** Addresses in these scripts begin with the largest part and end with the person. */
const LARGEST_FIRST: Readonly<Record<string, string>> = {
  JP: "〒Z|S C|A",
  CN: "Z|S C|A",
  TW: "Z|S C|A",
  HK: "S C|A",
  KR: "S C|A|Z",
};

/** Others write the postal code and the city in one line: `A|Z C`. */
const COUNTRIES_BY_LINES: Readonly<Record<string, string>> = {
  "A|C, S Z": "BB SO TW US",
  "A|C S Z": "AS AU CA CC CX FM GU HM MH MP NF PR PW UM VI",
  "A|C|S|Z": "AC AF AI EG FK GB GG GI GS IE IM IO IQ JE KE KR LK NA PN RU SD SH SZ TA TC UA VG ZA",
  "A|C Z|S": "BH BM BN BT IL IN JO KH LB LS MM MT MV NG NP NZ PE SA SG VC",
  "A|C-Z|S": "BD PK",
  "A|C|S Z": "ID JM MN TH VN",
  "A|C, S|Z": "CN CO CR CU HN IR JP KP LV",
  "A|Z C S": "EE ES IT LT PF UY",
  "A|Z C, S": "MX NI VE",
  "A|Z C/S": "TR",
  "A|Z S C": "RO",
  "A|Z|C|S": "AL AM EC MU OM",
  "A|C-S|Z": "BR",
  "C|A|Z": "HU",
  "A|C|S": "AE BS HK KI KN MO NR PA QA SC SR TV",
};

const LINES_OF: ReadonlyMap<string, string> = new Map(
  Object.entries(COUNTRIES_BY_LINES).flatMap(([lines, countries]) =>
    countries.split(" ").map((country): [string, string] => [country, lines]),
  ),
);
