import { withoutCurrency } from "./amounts.ts";

/** The columns that a file can have. */
export type Columns = {
  readonly known: readonly string[];
  readonly required?: readonly string[];
  /** Columns of an export that an import does not read. */
  readonly ignored?: readonly string[];
  /** Columns that name something. */
  readonly identifiers: readonly string[];
  /** The columns that are amounts, and their currency. */
  readonly amounts?: { readonly columns: readonly string[]; readonly currency: string };
  /** The columns that are whole numbers. */
  readonly numbers?: readonly string[];
  /** The columns with a few values, which people write in any case. */
  readonly choices?: Readonly<Record<string, readonly string[]>>;
  /** A JSON object in each line is read too. */
  readonly jsonLines?: true;
};

/** Rows above the header that are titles, at most. */
export const TITLE_ROWS_MAX = 10;

/** How many cells name a column. */
export const namesIn = (cells: readonly string[], columns: Columns): number =>
  cells.filter((cell) => isKnown(columnNamed(cell, columns), columns)).length;

const isKnown = (name: string, { known, ignored = [] }: Columns): boolean =>
  known.includes(name) || ignored.includes(name);

/** What German and some English files call columns, in the form of `plain`. A word that could mean two columns is none. */
const WORDS: Readonly<Record<string, string>> = {
  sku: "artikelnummer artikelnr artnr artikelno itemnumber itemno articlenumber produktnummer productcode",
  name: "bezeichnung artikelbezeichnung artikelname produktname produktbezeichnung productname titel title",
  description: "beschreibung produktbeschreibung artikelbeschreibung",
  price: "preis verkaufspreis vkpreis vk einzelpreis stückpreis unitprice",
  weightGrams: "gewichtg gewichtingramm gewichting weightg weightingrams",
  barcode: "ean ean13 eancode eannummer eangtin gtin gtin13 gtin14 gtinean upc strichcode",
  imageUrl: "bild bildurl bildlink image imagelink",
  lowStockBelow: "meldebestand mindestbestand",
  onHand: "bestand lagerbestand istbestand quantityonhand qtyonhand",
  ...{ reserved: "reserviert", available: "verfügbar" },
  ...{ difference: "differenz", reason: "grund", note: "bemerkung notiz", reference: "referenz" },
  quantity: "menge anzahl stückzahl qty",
  trackingNumber:
    "sendungsnummer sendungsnr paketnummer paketnr trackingnummer trackingnr trackingno trackingcode trackingid",
  carrier: "versanddienst versanddienstleister paketdienst",
  externalOrderId: "bestellnummer bestellnr auftragsnummer auftragsnr ordernumber orderno",
};
const MEANINGS: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(WORDS).flatMap(([column, words]) => words.split(" ").map((word) => [word, column])),
);

/** Letters and digits of a header in lower case: people write `Tracking number`, ` SKU ` or `Art.-Nr.`. */
const plain = (text: string): string =>
  text
    .normalize("NFKC")
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]/gu, "");

/**
 * The column that a header names: in any case and spelling, or by a word for it, and an amount also with its currency. Otherwise
 * the header as it is.
 */
export function columnNamed(cell: string, { known, ignored = [], amounts }: Columns): string {
  const name = cell.trim();
  const named = meaningOf(name, [...known, ...ignored]);
  if (named !== null || amounts === undefined) return named ?? name;
  return meaningOf(withoutUnit(name, amounts.currency), amounts.columns) ?? name;
}

function meaningOf(name: string, columns: readonly string[]): string | null {
  if (columns.includes(name)) return name;
  const word = plain(name);
  return columns.find((each) => plain(each) === word || each === MEANINGS[word]) ?? null;
}

/** `Price (EUR)` and `Preis in €` without the currency of the merchant. Another one stays, so that the column is refused. */
const withoutUnit = (name: string, currency: string): string =>
  withoutCurrency(name.replace(/[\s)\]]+$/, ""), currency).replace(/\s+in$/i, "");
