import type {
  CertificationRefusal,
  KnownCellDamage,
  KnownCodeMeaning,
  KnownFileFault,
  KnownLimitName,
  KnownMissingKind,
  KnownPersonRefusal,
  KnownReferenceUse,
  KnownValueFormat,
  OrderStatus,
  SignInFailure,
  TransitionRule,
} from "../api/schema.d.ts";
import type { ErrorTexts } from "./explanations.ts";
import { formatAlternatives, formatLimitBytes, formatMoney, formatNumber } from "./format.ts";
import { shell } from "./shell.de.ts";

const FORMATS: Readonly<Record<KnownValueFormat, string>> = {
  uuid: "muss eine UUID sein",
  "date-time": "muss ein Zeitpunkt nach ISO 8601 mit Zeitzone sein",
  text: "enthält Zeichen, die nicht gespeichert werden können",
  "path-segment":
    "darf nicht . oder .. sein, und keine Zeichen enthalten, die nicht gespeichert werden können",
  "web-address": "muss eine URL sein, die mit https:// oder http:// beginnt",
  "country-code": "muss ein Ländercode aus zwei Buchstaben sein",
  "header-name": "muss der Name eines Headers sein: Buchstaben, Ziffern und !#$%&'*+-.^_`|~",
  "header-value": "darf nur sichtbare ASCII-Zeichen haben, und Leerzeichen nur dazwischen",
  email: "muss eine E-Mail-Adresse sein",
  barcode: "darf nur ASCII-Zeichen haben, und am Anfang und Ende keine Leerzeichen",
  amount: "muss ein Betrag wie 12,50 oder 12.50 sein",
  currency: "muss ein Währungscode nach ISO 4217 wie EUR sein",
  id: "ist keine ID des Dienstes",
  "time-zone": "muss eine Zeitzone sein, etwa Europe/Berlin",
  "page-path": "muss der Pfad einer Seite sein, etwa /orders",
  "whole-number": "muss eine ganze Zahl wie 380 sein",
};

const MISSING: Readonly<Record<KnownMissingKind, string>> = {
  order_line: "ist keine Position dieser Bestellung",
  shipment_line: "ist keine Position dieser Sendung",
  shipment: "ist keine Sendung dieser Bestellung",
  product: "ist kein Produkt dieser Verbindung",
  merchant_product: "ist kein Produkt des Händlers",
  webhook_endpoint: "ist kein Endpunkt der Verbindung",
  delivery: "ist keine Zustellung der Verbindung",
  merchant: "ist kein Händler",
  connection: "ist keine Verbindung",
  facility: "ist kein Standort",
  stock_record: "hat am Standort noch keinen Bestand: zuerst onHand setzen",
  order: "ist keine Bestellung",
  order_sku: "ist nicht die SKU einer Position der Bestellung",
  known_shipment: "ist keine Sendung",
};

const USES: Readonly<Record<KnownReferenceUse, string>> = {
  refund: "einer anderen Erstattung der Bestellung",
  return: "einer anderen Rücksendung der Bestellung",
  cancellation: "eine andere Teilstornierung der Bestellung",
  refund_of_return: "einer Erstattung der Bestellung",
  stock_adjustment: "einer anderen Änderung dieses Bestands",
  payment: "einer Zahlung über einen anderen Betrag",
  pick_list: "einer anderen Pickliste dieser Person",
};

const CODE_MEANINGS: Readonly<Record<KnownCodeMeaning, string>> = {
  order: "ist die ID einer Bestellung",
  shipment: "ist die ID einer Sendung",
  id: "ist eine ID dieses Dienstes",
  command: "ist ein Befehl des Packtischs",
  external_order_id: "ist die Bestellnummer eines Partners",
  barcode: "ist der Barcode eines Produkts",
  sku: "ist die SKU eines Produkts",
  number: "ist eine Nummer, nicht der Name eines Versanddienstes",
};

const NOT_READ = "die folgenden Zeilen wurden nicht gelesen";
const CERTIFICATION_REFUSALS: Readonly<Record<CertificationRefusal, string>> = {
  running:
    "Eine andere Zertifizierung dieser Verbindung läuft. Warten Sie auf ihr Ende, oder brechen Sie sie ab.",
  "no-product":
    "Die Verbindung hat kein Produkt, das bestellt werden kann. Der Händler gibt ihr Produkte frei.",
  "event-types":
    "Der Endpunkt muss order.created, order.shipmentCreated und order.completed empfangen. Fügen Sie hinzu, was fehlt.",
};

const FILE_FAULTS: Readonly<Record<KnownFileFault, string>> = {
  open_quote: `öffnet ein Anführungszeichen, das nie geschlossen wird; ${NOT_READ}`,
  long_row: `ist länger als 256 KiB; vielleicht öffnet sie ein Anführungszeichen, das nie geschlossen wird; ${NOT_READ}`,
  stray_quote: `hat ein Anführungszeichen, wo keines erlaubt ist: setzen Sie die Zelle in Anführungszeichen, und verdoppeln Sie die darin; ${NOT_READ}`,
  encoding: "hat Buchstaben in einer unbekannten Kodierung; speichern Sie die Datei als CSV in UTF-8",
  old_workbook:
    "die Datei ist eine alte Arbeitsmappe (.xls) oder eine mit Passwort; speichern Sie sie als .xlsx ohne Passwort, oder als CSV",
  not_a_workbook:
    "die Datei ist keine Arbeitsmappe, die gelesen werden kann; speichern Sie sie als .xlsx oder als CSV",
  not_a_table:
    "die Datei ist keine Tabelle; öffnen Sie sie in einem Tabellenprogramm, und speichern Sie sie als .xlsx oder als CSV",
  large_workbook:
    "die Arbeitsmappe ist zu groß: höchstens 16 MiB, und ausgepackt 128 MiB; speichern Sie sie als CSV",
};

const DAMAGES: Readonly<Record<KnownCellDamage, string>> = {
  exponent: "ist eine Zahl mit Exponent, wie Tabellenprogramme lange Nummern schreiben",
  date: "ist ein Datum, wie Tabellenprogramme es etwa aus 10-12 machen",
  zeros: "hat wohl Nullen am Anfang verloren",
  formula: "ist eine Formel",
  error_value: "ist ein Fehlerwert eines Tabellenprogramms",
  invisible: "enthält unsichtbare Zeichen",
  letters:
    "hat falsche Buchstaben, weil die Datei in einer anderen Kodierung gespeichert wurde; speichern Sie sie als CSV in UTF-8",
  decimals: "ist eine Zahl mit Nachkommastellen",
  rounded: "endet nach 15 Ziffern mit Nullen, wie Tabellenprogramme lange Nummern runden",
  boolean: "ist ein Wahrheitswert, wie Tabellenprogramme manche Wörter verstehen",
  quotes: "hat ein Anführungszeichen oder einen Apostroph am Rand",
  groups: "hat Ziffern in Gruppen; schreiben Sie nur die Ziffern, wie ein Scanner sie liest",
  look_alike:
    "hat Zeichen, die wie andere aussehen, etwa einen Gedankenstrich oder einen Buchstaben eines anderen Alphabets",
};

const TYPES: Readonly<Record<string, string>> = {
  string: "ein Text",
  number: "eine Zahl",
  integer: "eine Zahl",
  boolean: "true oder false",
  object: "ein Objekt",
  array: "eine Liste",
  null: "null",
};

const EARLIER: Readonly<Record<string, string>> = { id: "ID", sku: "SKU", barcode: "Barcode" };

const SETTLED: readonly OrderStatus[] = ["COMPLETED", "CANCELED", "RETURNED"];

const lifted = (setting: string | undefined): string =>
  setting === undefined
    ? ""
    : `; ein Dienst zum Entwickeln nimmt auch andere, wenn er mit ${setting} gestartet ist`;

const PERSON_STATES: Readonly<Record<KnownPersonRefusal, string>> = {
  disabled: "Die Person ist gesperrt. Entsperren Sie sie zuerst.",
  active: "Die Person hat die Einladung angenommen. Sie kann ihr Passwort per E-Mail neu setzen.",
  "last-operator":
    "Das ist der letzte Betreiber, der sich anmelden kann. Geben Sie die Rolle zuerst einer anderen Person.",
};

const SIGN_INS: Readonly<Record<SignInFailure, string>> = {
  "wrong-credentials":
    "Die E-Mail-Adresse oder das Passwort stimmt nicht. Prüfen Sie beides und versuchen Sie es noch einmal.",
  "wrong-password": "Das Passwort stimmt nicht. Versuchen Sie es noch einmal.",
  "wrong-code": "Der Code stimmt nicht, oder er ist abgelaufen. Nehmen Sie den nächsten.",
  "unknown-passkey":
    "Dieser Passkey ist hier nicht bekannt, oder es hat zu lange gedauert. Versuchen Sie es noch einmal, oder nehmen Sie einen anderen Weg.",
  "invalid-passkey":
    "Der Passkey passt nicht zur Anfrage, oder es hat zu lange gedauert. Versuchen Sie es noch einmal.",
  "invalid-link": shell.signIn.linkUsedUp,
  "codes-set-up": "Einmalcodes sind schon eingerichtet. Schalten Sie sie zuerst aus.",
};

/** The limit with its maximum, and how to continue. */
const LIMITS: Readonly<Record<KnownLimitName, (maximum: string) => string>> = {
  endpoints: (maximum) => `Die Verbindung hat ${maximum} Endpunkte, mehr geht nicht. Löschen Sie erst einen.`,
  testEndpoints: (maximum) =>
    `Die Verbindung hat ${maximum} Testendpunkte, mehr geht nicht. Löschen Sie erst einen.`,
  endpointCreationsPerHour: (maximum) =>
    `Mehr als ${maximum} Endpunkte in einer Stunde gehen nicht. Ändern Sie einen, oder warten Sie eine Stunde.`,
  testOrders: (maximum) =>
    `Die Verbindung hat ${maximum} Testbestellungen, mehr geht nicht. Warten Sie, bis der Dienst alte löscht.`,
  testOrderTransitions: (maximum) =>
    `Die Testbestellung hat ${maximum} Schritte, mehr geht nicht. Nehmen Sie eine andere.`,
  redeliveriesPerDay: (maximum) =>
    `Die Zustellung wurde in 24 Stunden ${maximum}-mal wiederholt, mehr geht nicht. Versuchen Sie es morgen.`,
  deliveryAttempts: (maximum) =>
    `Die Zustellung hat ${maximum} Versuche, mehr geht nicht. Lesen Sie das Ereignis aus der Ereignisliste.`,
  apiKeys: (maximum) =>
    `Die Verbindung hat ${maximum} gültige Schlüssel, mehr geht nicht. Widerrufen Sie erst einen.`,
  connections: (maximum) =>
    `Der Händler hat ${maximum} Verbindungen, mehr geht nicht. Der Betreiber kann die Grenze anheben.`,
  products: (maximum) =>
    `Der Händler kann höchstens ${maximum} Produkte haben. Der Betreiber kann die Grenze anheben.`,
  merchantApiKeys: (maximum) =>
    `Der Händler hat ${maximum} gültige Schlüssel, mehr geht nicht. Widerrufen Sie erst einen.`,
  merchantEndpoints: (maximum) =>
    `Die Verbindungen des Händlers haben ${maximum} Endpunkte, mehr geht nicht. Löschen Sie erst einen.`,
  merchantTestEndpoints: (maximum) =>
    `Die Verbindungen des Händlers haben ${maximum} Testendpunkte, mehr geht nicht. Löschen Sie erst einen.`,
  deliveryFaults: (maximum) =>
    `Die Testbestellung hat ${maximum} geprobte Störungen, mehr geht nicht. Nehmen Sie eine andere.`,
  orderNotes: (maximum) => `Die Bestellung hat ${maximum} Notizen, mehr geht nicht.`,
  openResends: (maximum) =>
    `${maximum} Wiederholungen laufen, mehr geht nicht. Warten Sie, bis eine fertig ist, oder brechen Sie eine ab.`,
  views: (maximum) => `Sie haben ${maximum} gespeicherte Ansichten, mehr geht nicht. Löschen Sie erst eine.`,
  people: (maximum) => `Es gibt ${maximum} Personen ohne Zugang zu einem Händler, mehr geht nicht.`,
  merchantPeople: (maximum) =>
    `Der Händler hat ${maximum} Personen, mehr geht nicht. Wenden Sie sich an den Betreiber.`,
  invitationsPerDay: (maximum) =>
    `Der Händler hat in 24 Stunden ${maximum} Einladungen verschickt, mehr geht nicht. Versuchen Sie es morgen, oder fragen Sie den Betreiber.`,
  invitations: (maximum) =>
    `Betreiber haben in 24 Stunden ${maximum} Einladungen verschickt, mehr geht nicht. Versuchen Sie es morgen.`,
  invitationResends: (maximum) =>
    `Die Einladung wurde ${maximum}-mal erneut gesendet, mehr geht nicht. Prüfen Sie die E-Mail-Adresse. Ein Betreiber kann einen Link zum Anmelden anlegen.`,
  tokens: (maximum) =>
    `Es gibt ${maximum} gültige Tokens, die für keinen Händler sind, mehr geht nicht. Widerrufen Sie erst eines.`,
  merchantTokens: (maximum) =>
    `Der Händler hat ${maximum} gültige Tokens, mehr geht nicht. Widerrufen Sie erst eines.`,
  passkeys: (maximum) => `Sie haben ${maximum} Passkeys, mehr geht nicht. Entfernen Sie erst einen.`,
  streams: (maximum) =>
    `Sie haben ${maximum} Seiten mit laufender Anzeige offen, mehr geht nicht. Schließen Sie erst eine.`,
  merchantStreams: (maximum) =>
    `Beim Händler sind ${maximum} Seiten mit laufender Anzeige offen, mehr geht nicht. Schließen Sie erst eine.`,
  runningImports: (maximum) =>
    `Beim Händler läuft ${maximum} Import, mehr geht nicht. Warten Sie, bis er fertig ist.`,
  runningExports: (maximum) =>
    `${maximum} Exporte laufen, mehr geht nicht. Warten Sie, bis einer fertig ist.`,
  runningExposures: (maximum) =>
    `${maximum} Änderungen von Freigaben laufen, mehr geht nicht. Warten Sie, bis eine fertig ist.`,
  runningResends: (maximum) =>
    `${maximum} Anfragen nach einer Wiederholung laufen, mehr geht nicht. Versuchen Sie es in einigen Sekunden.`,
  runningStatements: (maximum) =>
    `${maximum} Kontoauszüge werden gelesen, mehr geht nicht. Versuchen Sie es in einigen Sekunden.`,
};

/** Why a transition of an order is not possible. `maximum` is that of the rules that have one. */
const TRANSITIONS: Readonly<Record<TransitionRule, string | ((maximum: string) => string)>> = {
  order_on_hold: "Eine angehaltene Bestellung kann nicht versandt werden.",
  unshipped_lines: "Eine Bestellung, von der noch etwas zu versenden ist, kann nicht abgeschlossen werden.",
  order_settled:
    "Die Bestellung ist schon abgeschlossen, storniert oder zurückgesandt. Nur eine Rücksendung ist noch möglich.",
  no_shipment_out: "Die Bestellung hat diese Sendung nicht, oder sie kam schon zurück oder ist ungültig.",
  shipment_left:
    "Die Sendung ist abgegangen: Sie wurde als versandt oder zugestellt gemeldet, oder ein Teil kam zurück. Tragen Sie stattdessen die Rücksendung ein. Hat der Versanddienst sie nicht, stellen Sie erst ihren Status auf ausstehend.",
  nothing_to_ship:
    "Von der Bestellung ist nichts mehr zu versenden, oder eine der Positionen hat schon eine Sendung.",
  nothing_to_cancel: "Eine der Positionen ist versandt oder schon storniert.",
  whole_order: "Von der Bestellung bliebe nichts übrig. Stornieren Sie die ganze Bestellung.",
  tracking_number_repeated: "Die Sendungsnummer ist schon auf einem anderen Paket, das unterwegs ist.",
  goods_unpaid:
    "Die Ware ist noch nicht bezahlt. Versuchen Sie es danach erneut; wurde die Zahlung abgelehnt, heben Sie diesen Halt zuerst auf, oder stornieren Sie die Bestellung.",
  too_many_lines: (maximum) =>
    `Eine Bestellung hat höchstens ${maximum} Positionen. Versenden Sie ganze Positionen statt Teile.`,
  not_cancelable: "Die Bestellung kann nicht storniert werden.",
  not_new: "Die Bestellung ist nicht mehr neu.",
  not_in_review: "Die Bestellung ist nicht in Prüfung.",
  not_accepted:
    "Die Bestellung ist noch nicht angenommen: Sie kann noch storniert werden, oder sie ist in Prüfung.",
  not_routed: "Die Bestellung hat noch keinen Standort. Versuchen Sie es in einigen Sekunden noch einmal.",
  nothing_to_pay: "Bei der Bestellung ist keine Zahlung und keine Erstattung offen.",
  nothing_to_refund: "Für die Bestellung wurde nichts abgebucht, oder alles ist erstattet.",
  too_many_returns: (maximum) =>
    `Die Bestellung hat ${maximum} Rücksendungen. Tragen Sie ganze Sendungen ein, ohne Positionen.`,
  too_many_refunds: (maximum) =>
    `Die Bestellung hat ${maximum} Erstattungen. Erstatten Sie den ganzen Rest auf einmal.`,
  order_not_settled: "Die Bestellung ist noch nicht abgeschlossen, storniert oder zurückgesandt.",
  already_shipped:
    "Ein Teil der Bestellung ist versandt. Nur der Betreiber kann sie stornieren, und ihre Adresse kann nicht geändert werden.",
  other_country:
    "Die Bestellung ist in Arbeit: Ihre Adresse kann nur innerhalb des Landes korrigiert werden. Stornieren Sie sie und bestellen Sie neu.",
  shipping_charge_pending: "Die Versandkosten werden gerade abgebucht. Versuchen Sie es danach noch einmal.",
  too_many_corrections: (maximum) => `Die Adresse der Bestellung wurde schon ${maximum}-mal korrigiert.`,
  hold_not_releasable:
    "Die Bestellung ist aus Gründen angehalten, die Ihre Rolle nicht aufheben kann, oder die Sie wählen müssen. Bei jedem Halt steht, von wem er ist.",
  too_many_hold_reasons: (maximum) =>
    `Eine Bestellung kann aus höchstens ${maximum} Gründen angehalten sein.`,
  too_many_changes: (maximum) =>
    `Der Verlauf der Bestellung hat ${maximum} Einträge. Möglich ist nur noch, was sie zu Ende bringt.`,
};

/** What the service says about fields, about lines of an imported file, and about changes that are not possible. */
export const errors: ErrorTexts = {
  rules: {
    required: () => "wird gebraucht",
    type: ({ types }) => `muss ${formatAlternatives(types.map((type) => TYPES[type] ?? type))} sein`,
    json_object: ({ known }) => `muss ein JSON-Objekt mit ${known.join(", ")} sein`,
    one_of: ({ allowed }) => `muss einer dieser Werte sein: ${allowed.join(", ")}`,
    minimum: ({ min }) => `muss mindestens ${formatNumber(min)} sein`,
    maximum: ({ max }) => `darf höchstens ${formatNumber(max)} sein`,
    min_length: ({ min }) => `muss mindestens ${formatNumber(min)} Zeichen haben`,
    blank: () => "darf nicht leer sein",
    max_length: ({ max }) => `darf höchstens ${formatNumber(max)} Zeichen haben`,
    min_items: ({ min }) =>
      `muss mindestens ${formatNumber(min)} ${min === 1 ? "Eintrag" : "Einträge"} haben`,
    max_items: ({ max }) => `darf höchstens ${formatNumber(max)} ${max === 1 ? "Eintrag" : "Einträge"} haben`,
    max_keys: ({ max }) => `darf höchstens ${formatNumber(max)} Namen haben`,
    format: ({ format }) => FORMATS[format as KnownValueFormat],
    pattern: ({ pattern }) => `muss die Form ${pattern} haben`,
    id_prefix: ({ prefix }) => `muss eine ID sein, die mit ${prefix} beginnt`,
    country: ({ use, insteadOf }) =>
      use === undefined
        ? "muss ein Ländercode nach ISO 3166-1 sein, oder XK"
        : `ist kein Ländercode nach ISO 3166-1; schreiben Sie ${formatAlternatives(use)} statt ${insteadOf}`,
    year: ({ min, max }) =>
      `muss in UTC in den Jahren ${String(min).padStart(4, "0")} bis ${String(max).padStart(4, "0")} liegen`,
    unknown_field: ({ known }) => `ist kein bekanntes Feld; es gibt ${known.join(", ")}`,
    unknown_parameter: ({ known }) =>
      `ist kein bekannter Parameter; es gibt ${known.length === 0 ? "keine" : known.join(", ")}`,
    cursor: () => "ist keine gültige Seite dieser Liste",
    cursor_expired: () => "ist älter als das, was der Feed aufbewahrt: Lesen Sie die Listen noch einmal",
    not_found: ({ kind }) => MISSING[kind as KnownMissingKind],
    discontinued: () => "ist ausgelaufen",
    duplicate_line: () => "nennt dieselbe Position wie ein früherer Eintrag",
    line_quantity: ({ max }) => `darf höchstens ${formatNumber(max)} sein: mehr hat die Position nicht`,
    not_combinable: ({ field }) => `geht nicht zusammen mit ${field}`,
    either: ({ field }) => `ist nur ohne ${field} möglich, und eines von beiden wird gebraucht`,
    test_orders_only: () => "ist nur mit Testbestellungen möglich",
    test_key: ({ value }) => `muss ${value} sein, denn der Schlüssel ist ein Testschlüssel`,
    test_endpoint: () => "braucht einen Testendpunkt: Legen Sie einen mit dem Modus Test an",
    receiving_endpoint: () => "braucht einen Testendpunkt, der solche Ereignisse erhält",
    previous_secret: () =>
      "braucht einen Testendpunkt, dessen voriges Geheimnis noch gilt: Tauschen Sie erst sein Geheimnis",
    set_at_creation: () => "wird beim Anlegen festgelegt und kann nicht geändert werden",
    push_endpoint: () => "gilt nur für Push-Endpunkte: ein Pull-Endpunkt hat keine Adresse",
    pull_endpoint: () => "muss ein Pull-Endpunkt sein",
    after: ({ field }) => `muss nach ${field === "since" ? "dem Beginn" : field} liegen`,
    not_future: () => "darf nicht in der Zukunft liegen",
    max_age: ({ days }) => `darf höchstens ${formatNumber(days)} Tage her sein`,
    url_scheme: ({ schemes, setting }) =>
      `muss eine URL sein, die mit ${formatAlternatives(schemes.map((scheme) => `${scheme}://`))} beginnt${lifted(setting)}`,
    public_address: ({ setting }) => `muss eine öffentliche Adresse sein${lifted(setting)}`,
    usual_port: ({ setting }) => `muss den Port 443 oder einen von 1024 bis 65535 haben${lifted(setting)}`,
    no_credentials: () => "darf weder Benutzernamen noch Passwort enthalten",
    no_fragment: () => "darf kein # enthalten",
    reserved_header: () => "ist reserviert: der Dienst oder ein Proxy setzt ihn",
    duplicate_header: () => "nennt denselben Header noch einmal",
    headers_length: ({ max }) => `darf zusammen höchstens ${formatNumber(max)} Zeichen haben`,
    stored_header: () => "hat keinen gespeicherten Wert: bitte den Wert eingeben",
    headers_of_origin: () =>
      "müssen neu eingegeben werden oder leer sein: gespeicherte Werte gehen an keinen anderen Server",
    invalid: () => "ist nicht gültig",
    only_with: ({ field }) => `geht nur zusammen mit ${field}`,
    role_requires: ({ role }) => `wird für die Rolle ${role} gebraucht`,
    belongs_to_role: ({ role }) => `gehört zur Rolle ${role} und geht hier nicht`,
    scope_of_role: ({ role }) => `geht nicht mit der Rolle ${role}`,
    scopes_of_caller: () => "muss ein Recht sein, das Sie selbst haben",
    grantable: () => "muss Händler oder Partner sein: man gibt nicht mehr, als man hat",
    duplicate_grant: () => "darf es nur einmal geben: nennen Sie alles in einem Eintrag",
    own_facility: () => "wird gebraucht: Ihre Rolle gilt für einzelne Standorte",
    operator_requests: () => "kann nur der Betreiber verlangen",
    operator_sets: () => "kann nur der Betreiber setzen und aufheben",
    role_allows: ({ allowed }) =>
      `muss ${formatAlternatives(allowed)} sein; andere Gründe erlaubt Ihre Rolle nicht`,
    amount: ({ currency, decimals, maxAmount }) =>
      `muss ein Betrag in ${currency} ${decimals === 0 ? "ohne Nachkommastellen" : `mit höchstens ${decimals} Nachkommastellen`} sein, höchstens ${formatMoney({ amount: maxAmount, currency })}`,
    positive: () => "muss größer als null sein",
    refundable: ({ maxAmount, currency }) =>
      `darf höchstens ${formatMoney({ amount: maxAmount, currency })} sein: mehr kann nicht mehr erstattet werden`,
    reference_used: ({ usedFor }) => {
      const use = USES[usedFor as KnownReferenceUse];
      return use === undefined ? undefined : `gehört schon zu ${use}`;
    },
    shipped_quantity: ({ max }) =>
      `darf höchstens ${formatNumber(max)} sein: so viel ist versandt und nicht zurückgekommen`,
    refundable_quantity: ({ max }) =>
      `darf höchstens ${formatNumber(max)} sein: so viel ist noch nicht erstattet`,
    one_required: ({ others }) => `wird gebraucht, oder ${others.join(" oder ")}`,
    refund_named: () => "wird gebraucht, oder Positionen, oder der Versand",
    external_id_ambiguous: ({ count }) =>
      `ist die externe ID von ${formatNumber(count)} Bestellungen; nennen Sie die Verbindung in connectionId`,
    unshipped_quantity: ({ max }) =>
      `darf höchstens ${formatNumber(max)} sein: so viel der Bestellung ist noch nicht versandt`,
    which_parcel: ({ shipmentIds }) =>
      `wird gebraucht, denn die Sendungsnummer kann zu ${formatAlternatives([...shipmentIds])} gehören oder zu Ware, die noch nicht versandt ist: für diese die sku nennen`,
    known_code: ({ knownAs }) => {
      const text = CODE_MEANINGS[knownAs as KnownCodeMeaning];
      if (text === undefined || knownAs === "number") return text;
      return `${text}: das Etikett des Paketdienstes scannen`;
    },
    voided_shipment: () =>
      "ist die Nummer einer stornierten Sendung: die Bestellung auf ihrer Seite neu versenden",
    which_shipment: ({ shipmentIds }) =>
      `wird gebraucht, denn ${formatNumber(shipmentIds.length)} Sendungen sind unterwegs: ${shipmentIds.join(", ")}`,
    max_shipments: ({ max }) => `darf aus höchstens ${formatNumber(max)} Sendungen sein`,
    not_restockable: () => "geht nicht für beschädigte oder defekte Ware",
    future: () => "muss in der Zukunft liegen",
    not_after: ({ field }) =>
      `darf nicht nach ${field === "to" ? "dem Ende" : field} liegen, und nicht in der Zukunft`,
    iban: () => "ist keine gültige IBAN: Eines der Zeichen stimmt nicht",
    stripe_key: () => "geht nicht: Der Dienst hat keinen Schlüssel für Stripe (STRIPE_SECRET_KEY)",
    reserved_quantity: ({ min }) =>
      `muss mindestens ${formatNumber(min)} sein: so viel ist für Bestellungen reserviert`,
    stock_difference: ({ min, max }) =>
      `muss zwischen ${formatNumber(min)} und ${formatNumber(max)} liegen: Der Bestand kann nicht kleiner sein als das, was für Bestellungen reserviert ist`,
    not_zero: () => "muss größer oder kleiner als 0 sein",
    duplicate_rate: ({ earlier }) =>
      `hat dasselbe Land, dieselbe Währung und dasselbe Gewicht wie Tarif ${formatNumber(earlier + 1)}`,
    view_name: () => "muss anders heißen als Ihre anderen Ansichten dieser Seite",
    barcode_taken: ({ productId, sku, name }) =>
      productId === undefined
        ? "ist der Barcode eines anderen Produkts des Händlers"
        : `ist der Barcode von ${[sku ?? productId, name].filter(Boolean).join(", ")}, mit oder ohne Nullen davor`,
    sku_taken: ({ productId, name = productId }) =>
      `ist die SKU des Produkts ${name}; geben Sie seine ID an, oder importieren Sie nach SKU, um es zu ändern`,
    sku_ambiguous: ({ count }) =>
      `ist die SKU von ${formatNumber(count)} Produkten; geben Sie die ID dessen an, das geändert wird`,
    sku_of_other_row: () => "ist die SKU eines Produkts, das eine andere Zeile ändert",
    sku_padded: () =>
      "darf am Anfang und Ende keine Leerzeichen haben, außer wenn die Zeile die ID ihres Produkts hat",
    earlier_row: ({ field }) => `steht als ${EARLIER[field] ?? field} schon in einer früheren Zeile`,
    given_away: () =>
      "bekam ein anderes Produkt, während die Datei gelesen wurde; senden Sie die Datei noch einmal",
    given_away_in_file: () =>
      "einer Zeile bekam ein anderes Produkt, während die Datei gelesen wurde; senden Sie die Datei noch einmal, um die Zeile zu sehen",
    unknown_column: ({ known }) =>
      `ist keine Spalte des Imports; löschen Sie sie, oder nennen Sie sie wie eine von ${known.join(", ")}`,
    duplicate_column: () => "ist eine doppelte Spalte",
    missing_column: () => "wird gebraucht, fehlt aber in der ersten Zeile",
    two_meanings: () =>
      "kann Tausender oder Nachkommastellen bedeuten; schreiben Sie die Zahl ohne Tausendertrennzeichen",
    json_line: () => "ist kein JSON-Objekt in einer Zeile",
    header_row: () => "die Kopfzeile fehlt",
    cell_count: ({ count, expected }) =>
      `hat ${formatNumber(count)} Zellen, aber die erste Zeile hat ${formatNumber(expected)}`,
    max_rows: ({ max }) => `ist mehr als die erlaubten ${formatNumber(max)} Zeilen`,
    unnamed_column: () => "hat einen Wert, aber die Spalte hat keinen Namen in der ersten Zeile",
    file: ({ fault }) => FILE_FAULTS[fault as KnownFileFault],
    damaged: ({ damage, meant }) => {
      const text = DAMAGES[damage as KnownCellDamage];
      return text === undefined || meant === undefined ? text : `${text}; gespeichert ist ${meant}`;
    },
    check_digit: () => "hat eine falsche Prüfziffer",
    sku_case: ({ meant }) =>
      `unterscheidet sich von ${meant ?? "der einer früheren Zeile"} nur in Groß- und Kleinschreibung und ist deshalb ein anderes Produkt`,
  },
  checks: {
    challenge:
      "Testbestellungen und Fehler gehen nur an einen Empfänger, dessen Inhaber sie will, und nie an Fremde. Beantworten Sie ein webhook.ping mit data.certification mit 200 und dem JSON von webhooks.answer des SDK, oder berechnen Sie es, wie es die Seite Zertifizierung zeigt.",
    valid:
      "Ein Ereignis, das nicht angenommen wird, wird tagelang wiederholt, und die späteren seiner Bestellung warten darauf. Prüfen Sie die Signatur über den rohen Inhalt, speichern Sie das Ereignis, und antworten Sie binnen 15 Sekunden mit 200.",
    "wrong-signature":
      "Sonst könnte jeder, der die Adresse kennt, Sendungen und Stornos melden, die es nie gab. Vergleichen Sie webhook-signature vor allem anderen, und antworten Sie mit 401, wenn sie nicht passt.",
    "stale-timestamp":
      "Sonst ließe sich eine Anfrage, die einmal aufgezeichnet wurde, jederzeit wieder senden. Antworten Sie mit 401, wenn webhook-timestamp mehr als fünf Minuten von jetzt entfernt ist.",
    duplicate:
      "Ereignisse kommen mindestens einmal. Wird eines beim zweiten Mal abgelehnt, kommt es immer wieder. Merken Sie sich jede webhook-id, und antworten Sie beim zweiten Mal mit 200, ohne etwas zu tun.",
    "two-at-once":
      "Eine Wiederholung kann ankommen, während die erste Anfrage noch läuft. Lassen Sie eine Unique-Bedingung auf webhook-id entscheiden, welche von beiden handelt, und antworten Sie beiden mit 200.",
    reordered:
      "Nach einer erneuten Zustellung oder einem Ausfall können Ereignisse einer Bestellung in anderer Reihenfolge ankommen. Merken Sie sich die höchste sequence jeder Bestellung, und antworten Sie auf ein älteres Ereignis mit 200, ohne etwas zu tun.",
    "unknown-type":
      "Neue Arten von Ereignissen kommen hinzu, ohne dass sich die Version der API ändert. Antworten Sie mit 200 auf Arten, die Ihr Programm nicht braucht.",
    "unknown-field":
      "Neue Felder kommen hinzu, ohne dass sich die Version der API ändert. Übergehen Sie Felder, die Ihr Programm nicht kennt.",
    "largest-body":
      "Eine Bestellung kann 200 Positionen in ebenso vielen Sendungen haben. Viele Server lehnen so etwas zunächst ab. Erlauben Sie Anfragen bis 1 MiB, auch im Proxy vor Ihrem Programm.",
    "cut-body":
      "Verbindungen brechen ab. Ein Teil eines Ereignisses darf nichts hinterlassen, was das ganze ablehnt. Handeln Sie erst, wenn der ganze Inhalt da ist und seine Signatur passt.",
    outage:
      "Nach einem Ausfall kommen die Ereignisse von Stunden in Sekunden. Vergleichen Sie webhook-timestamp mit der Uhr, nicht die Zeit des Ereignisses, und speichern Sie Ereignisse, bevor Sie sie verarbeiten.",
    state:
      "Ein Programm, das bei einer Wiederholung zweimal handelt, versendet oder erstattet doppelt. Eines, das die letzte Nachricht gelten lässt, zeigt eine fertige Bestellung als laufend. Merken Sie sich jede webhook-id, und behalten Sie die Bestellung mit der höchsten sequence.",
    throughput:
      "An vollen Tagen kommen Ereignisse in Schüben. Ein langsamer Empfänger gerät in Rückstand und erfährt spät von Stornos. Antworten Sie mit 200, sobald das Ereignis gespeichert ist, und verarbeiten Sie es danach; oder erhöhen Sie maxInFlight.",
    "lost-creation":
      "Ein Programm, das eine Bestellung nicht wiederholen kann, verliert sie oder gibt sie doppelt auf. Speichern Sie externalOrderId vor der Anfrage, und senden Sie nach einem Fehler ohne Antwort dieselbe Anfrage noch einmal.",
  },
  ofKey: (text) => `hat einen Namen, der nicht geht: er ${text}`,
  problems: {
    "malformed-request": () => "Der Dienst konnte die Anfrage nicht lesen.",
    "sign-in-failed": ({ reason }) => SIGN_INS[reason],
    "token-expires": () => "Das Token läuft ab, die Rollen von Personen nicht.",
    "scope-required": ({ scope }) => `Dem Token fehlt das Recht ${scope}.`,
    "recent-authentication-required": () =>
      "Bestätigen Sie, dass Sie es sind: Das geht nur innerhalb von 15 Minuten nach einem Passwort, einem Code oder einem Passkey.",
    "order-not-cancelable": ({ orderStatus }) => {
      if (SETTLED.includes(orderStatus))
        return "Die Bestellung ist schon abgeschlossen, storniert oder zurückgesandt.";
      return orderStatus === "PROCESSING"
        ? "Eine Bestellung in Prüfung kann so nicht storniert werden. Sie läuft weiter."
        : "Die Zeit zum Stornieren ist vorbei. Die Bestellung läuft weiter.";
    },
    "order-already-exists": () => "Eine andere Bestellung dieser Verbindung hat diese externe Bestell-ID.",
    "transition-refused": ({ rule, maximum }) => {
      const text = TRANSITIONS[rule];
      return typeof text === "function" ? text(maximum === undefined ? "" : formatNumber(maximum)) : text;
    },
    "endpoint-paused": () => "Der Endpunkt ist pausiert. Setzen Sie ihn zuerst fort.",
    "certification-not-possible": ({ reason }) => CERTIFICATION_REFUSALS[reason],
    "certification-required": ({ certificationMaxAgeDays }) =>
      `Ein Live-Schlüssel braucht eine Zertifizierung, die der Partner in den letzten ${formatNumber(certificationMaxAgeDays)} Tagen bestanden hat. Die Seite der Anbindung zeigt die Läufe und die Einstellung.`,
    "stock-changed": ({ onHand }) =>
      `Der Bestand hat sich geändert: ${formatNumber(onHand)} Stück sind da. Zählen Sie noch einmal, oder tragen Sie die Differenz ein.`,
    "limit-reached": ({ limit, maximum }) => LIMITS[limit as KnownLimitName]?.(formatNumber(maximum)),
    "person-exists": () =>
      "Eine Person mit dieser E-Mail-Adresse gibt es schon. Ändern Sie ihre Rollen, oder bitten Sie einen Betreiber darum.",
    "person-state": ({ state }) => PERSON_STATES[state as KnownPersonRefusal],
    "token-not-rotatable": ({ reason }) =>
      ({
        revoked: "Das Token wurde widerrufen. Erstellen Sie ein neues.",
        expired: "Das Token ist abgelaufen. Erstellen Sie ein neues.",
        replaced:
          "Das Token wurde schon ersetzt. Ersetzen Sie das neuere, oder widerrufen Sie beide und erstellen Sie ein neues.",
      })[reason],
    "key-not-rotatable": ({ reason }) =>
      ({
        revoked: "Der Schlüssel wurde widerrufen. Stellen Sie einen neuen aus.",
        expired: "Der Schlüssel ist abgelaufen. Stellen Sie einen neuen aus.",
        replaced:
          "Der Schlüssel wurde schon ersetzt. Ersetzen Sie den neueren, oder widerrufen Sie beide und stellen Sie einen neuen aus.",
      })[reason],
    "payload-too-large": ({ maxBytes }) =>
      `Die Datei oder die Eingabe ist größer als ${formatLimitBytes(maxBytes)}.`,
    "unsupported-media-type": () => "Der Dienst nimmt diese Art von Inhalt nicht an.",
    "idempotency-key-reused": ({ orderId }) =>
      orderId === null
        ? "Dieser Schlüssel gehört schon zu einer anderen Anfrage. Er ist der Idempotency-Key oder, ohne ihn, die externe Bestell-ID."
        : `Dieser Schlüssel gehört schon zur Bestellung ${orderId}, deren Anfrage eine andere war. Er ist der Idempotency-Key oder, ohne ihn, die externe Bestell-ID.`,
  },
};
