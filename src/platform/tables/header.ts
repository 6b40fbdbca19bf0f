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
  ...{ artikelnummer: "sku", artikelnr: "sku", artnr: "sku", itemnumber: "sku" },
  ...{ bezeichnung: "name", artikelbezeichnung: "name", artikelname: "name", produktname: "name" },
  ...{ productname: "name", beschreibung: "description", preis: "price", gewichtg: "weightGrams" },
  ...{
    gewichtingramm: "weightGrams",
    weightg: "weightGrams",
    ean: "barcode",
    gtin: "barcode",
    upc: "barcode",
  },
  ...{ strichcode: "barcode", meldebestand: "lowStockBelow", bestand: "onHand", lagerbestand: "onHand" },
  ...{ differenz: "difference", grund: "reason", bemerkung: "note", notiz: "note", referenz: "reference" },
  ...{ menge: "quantity", anzahl: "quantity", stückzahl: "quantity", qty: "quantity" },
  ...{ sendungsnummer: "trackingNumber", paketnummer: "trackingNumber", trackingnummer: "trackingNumber" },
  ...{ trackingno: "trackingNumber", versanddienst: "carrier", versanddienstleister: "carrier" },
  ...{ paketdienst: "carrier", bestellnummer: "externalOrderId", auftragsnummer: "externalOrderId" },
};

/** Letters and digits of a header in lower case: people write `Tracking number`, ` SKU ` or `Art.-Nr.`. */
const plain = (text: string): string =>
  text
    .normalize("NFKC")
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]/gu, "");

/** The column that a header names: in any case and spelling, or by a word for it. Otherwise the header as it is. */
export function columnNamed(cell: string, { known, ignored = [] }: Columns): string {
  const name = cell.trim();
  const names = [...known, ...ignored];
  if (names.includes(name)) return name;
  const word = plain(name);
  return names.find((each) => plain(each) === word || each === WORDS[word]) ?? name;
}
