import type { Explanation } from "../explanations.ts";

/** What the service says about fields, about lines of an imported file, and about changes that are not possible. */
export const explanations: readonly Explanation[] = [
  [/^is required$/, "wird gebraucht"],
  [/^is required for the role (.+)$/, "wird für die Rolle $1 gebraucht"],
  [
    /^is required: your role is for named facilities$/,
    "wird gebraucht: Ihre Rolle gilt für einzelne Standorte",
  ],
  [/^is required, but is missing in the first row$/, "wird gebraucht, fehlt aber in der ersten Zeile"],
  [/^is not a known field; use (.+)$/, "ist kein bekanntes Feld; es gibt $1"],
  [/^is not a known parameter; use (.+)$/, "ist kein bekannter Parameter; es gibt $1"],
  [/^is not a known parameter; there are none$/, "ist kein bekannter Parameter; es gibt keine"],
  [/^must be one of (.+)$/, "muss einer dieser Werte sein: $1"],
  [
    /^must be at least (\S+), the quantity reserved for orders$/,
    "muss mindestens $1 sein: so viel ist für Bestellungen reserviert",
  ],
  [/^must be at least (\S+)$/, "muss mindestens $1 sein"],
  [/^must be at most (\d\S*)$/, "darf höchstens $1 sein"],
  [/^must be greater than zero$/, "muss größer als null sein"],
  [/^must be positive or negative, not 0$/, "muss größer oder kleiner als 0 sein"],
  [/^must have at least (\S+) characters?$/, "muss mindestens $1 Zeichen haben"],
  [/^must have at most (\S+) characters?$/, "darf höchstens $1 Zeichen haben"],
  [/^must have at least (\S+) items?$/, "muss mindestens $1 Einträge haben"],
  [/^must have at most (\S+) items?$/, "darf höchstens $1 Einträge haben"],
  [/^must have at most (\S+) keys?$/, "darf höchstens $1 Namen haben"],
  [/^must be a UUID$/, "muss eine UUID sein"],
  [/^must be an id that begins with (.+)$/, "muss eine ID sein, die mit $1 beginnt"],
  [/^must be an ISO 8601 date-time with a time zone$/, "muss ein Zeitpunkt nach ISO 8601 mit Zeitzone sein"],
  [/^must be a two-letter country code$/, "muss ein Ländercode aus zwei Buchstaben sein"],
  [
    /^must be an assigned ISO 3166-1 country code, or XK; use (.+) instead of (.+)$/,
    "ist kein Ländercode nach ISO 3166-1; schreiben Sie $1 statt $2",
  ],
  [
    /^must be an assigned ISO 3166-1 country code, or XK$/,
    "muss ein Ländercode nach ISO 3166-1 sein, oder XK",
  ],
  [/^must be an email address$/, "muss eine E-Mail-Adresse sein"],
  [
    /^must be a URL that begins with https:\/\/ or http:\/\/$/,
    "muss eine URL sein, die mit https:// oder http:// beginnt",
  ],
  [/^must be a decimal amount such as 12\.50$/, "muss ein Betrag wie 12.50 sein"],
  [/^must be an ISO 4217 currency code such as EUR$/, "muss ein Währungscode nach ISO 4217 wie EUR sein"],
  [
    /^must not contain NUL characters or unpaired surrogates$/,
    "enthält Zeichen, die nicht gespeichert werden können",
  ],
  [
    /^must be ASCII characters without spaces at the ends$/,
    "darf nur ASCII-Zeichen haben, und am Anfang und Ende keine Leerzeichen",
  ],
  [/^must be a string$/, "muss ein Text sein"],
  [/^must be (?:a number|an integer)$/, "muss eine Zahl sein"],
  [/^must be a boolean$/, "muss true oder false sein"],
  [/^must be in the future$/, "muss in der Zukunft liegen"],
  [/^must be after since$/, "muss nach dem Beginn liegen"],
  [/^must not be after `to`, or after now$/, "darf nicht nach dem Ende liegen, und nicht in der Zukunft"],
  [/^must be before the year 10000$/, "muss vor dem Jahr 10000 liegen"],
  [/^must be false for goods that are damaged or defective$/, "geht nicht für beschädigte oder defekte Ware"],
  [
    /^must not be given twice: name all things in one grant$/,
    "darf es nur einmal geben: nennen Sie alles in einem Eintrag",
  ],
  [
    /^must be merchant or partner: a caller gives no more than it has$/,
    "muss Händler oder Partner sein: man gibt nicht mehr, als man hat",
  ],
  [/^names the same line as an earlier item$/, "nennt dieselbe Position wie ein früherer Eintrag"],
  [/^is not a line of this (?:order|shipment)$/, "gehört nicht dazu"],
  [/^is not a product of the merchant$/, "ist kein Produkt des Händlers"],
  [/^is not a facility$/, "ist kein Standort"],
  [/^is the barcode of the product (.+)$/, "ist der Barcode des Produkts $1"],
  [
    /^is the barcode of another product of the merchant$/,
    "ist der Barcode eines anderen Produkts des Händlers",
  ],
  [
    /^is the SKU of a product that another row changes$/,
    "ist die SKU eines Produkts, das eine andere Zeile ändert",
  ],
  [
    /^is the SKU of (\d+) products; give the id of the one to change$/,
    "ist die SKU von $1 Produkten; geben Sie die ID dessen an, das geändert wird",
  ],
  [/^is also the (id|barcode|SKU) of an earlier row$/, "steht als $1 schon in einer früheren Zeile"],
  [/^is a duplicate column$/, "ist eine doppelte Spalte"],
  [/^is not an import column; the columns are (.+)$/, "ist keine Spalte des Imports; die Spalten sind $1"],
  [/^the header row is missing$/, "die Kopfzeile fehlt"],
  [/^exceeds the limit of (\d+) rows$/, "ist mehr als die erlaubten $1 Zeilen"],
  [
    /^was given to another product while the file was read; send the file again$/,
    "bekam ein anderes Produkt, während die Datei gelesen wurde; senden Sie die Datei noch einmal",
  ],
  [
    /^has the same country, currency and weight as \/rates\/(\d+)$/,
    "hat dasselbe Land, dieselbe Währung und dasselbe Gewicht wie Tarif $1",
  ],
  // Why a transition of an order is not possible.
  [/^An order on hold cannot be shipped\.$/, "Eine gesperrte Bestellung kann nicht versandt werden."],
  [
    /^An order with an unshipped line cannot be completed\.$/,
    "Eine Bestellung, von der noch etwas zu versenden ist, kann nicht abgeschlossen werden.",
  ],
  [
    /^The order is already completed, canceled or returned\. It accepts only the return of a shipment\.$/,
    "Die Bestellung ist schon abgeschlossen, storniert oder zurückgesandt. Nur eine Rücksendung ist noch möglich.",
  ],
  [
    /^The order is already completed, canceled or returned\.$/,
    "Die Bestellung ist schon abgeschlossen, storniert oder zurückgesandt.",
  ],
  [
    /^The order has no such shipment, or the shipment has already been returned\.$/,
    "Die Bestellung hat diese Sendung nicht, oder sie kam schon zurück.",
  ],
  [
    /^The order has no unshipped line, or one of the lines already has a shipment\.$/,
    "Von der Bestellung ist nichts mehr zu versenden, oder eine der Positionen hat schon eine Sendung.",
  ],
  [
    /^An order has at most (\d+) lines\. Ship whole lines instead of parts\.$/,
    "Eine Bestellung hat höchstens $1 Positionen. Versenden Sie ganze Positionen statt Teile.",
  ],
  [/^The order cannot be canceled\.$/, "Die Bestellung kann nicht storniert werden."],
  [/^The order is not NEW\.$/, "Die Bestellung ist nicht mehr neu."],
  [/^The order is not in review\.$/, "Die Bestellung ist nicht in Prüfung."],
  [
    /^The order has not been accepted yet\. It is in its cancel window or in review\.$/,
    "Die Bestellung ist noch nicht angenommen: Sie kann noch storniert werden, oder sie ist in Prüfung.",
  ],
  [
    /^The order has not been routed to a facility yet\. Retry in a few seconds\.$/,
    "Die Bestellung hat noch keinen Standort. Versuchen Sie es in einigen Sekunden noch einmal.",
  ],
  [
    /^The order has no unpaid charge or refund\.$/,
    "Bei der Bestellung ist keine Zahlung und keine Erstattung offen.",
  ],
  [
    /^Nothing of the order has been charged, or all of it has been refunded\.$/,
    "Für die Bestellung wurde nichts abgebucht, oder alles ist erstattet.",
  ],
  [
    /^The order has (\d+) returns\. Return whole shipments, without lines\.$/,
    "Die Bestellung hat $1 Rücksendungen. Tragen Sie ganze Sendungen ein, ohne Positionen.",
  ],
  [
    /^The order has (\d+) refunds by request\. Refund all that is left, without an amount\.$/,
    "Die Bestellung hat $1 Erstattungen. Erstatten Sie den ganzen Rest, ohne Betrag.",
  ],
  [
    /^The order is not completed, canceled or returned yet\.$/,
    "Die Bestellung ist noch nicht abgeschlossen, storniert oder zurückgesandt.",
  ],
  [
    /^Part of the order has shipped\. Only the operator can cancel it, and its address cannot be changed\.$/,
    "Ein Teil der Bestellung ist versandt. Nur der Betreiber kann sie stornieren, und ihre Adresse kann nicht geändert werden.",
  ],
  [
    /^The charge for shipping is being processed\. Retry when it is paid or declined\.$/,
    "Die Versandkosten werden gerade abgebucht. Versuchen Sie es danach noch einmal.",
  ],
  [
    /^The address of the order was corrected (\d+) times\.$/,
    "Die Adresse der Bestellung wurde schon $1-mal korrigiert.",
  ],
  [
    /^The order is on hold for reasons that your role cannot release, or that must be named; placedBy of each hold shows who can\.$/,
    "Die Bestellung ist aus Gründen gesperrt, die Ihre Rolle nicht aufheben kann, oder die Sie wählen müssen. Bei jeder Sperre steht, von wem sie ist.",
  ],
  [
    /^An order can be on hold for at most (\d+) reasons\.$/,
    "Eine Bestellung kann aus höchstens $1 Gründen gesperrt sein.",
  ],
  [
    /^The timeline of the order has (\d+) entries\. Operations that can be repeated without end are rejected; those that bring the order to its end are not\.$/,
    "Der Verlauf der Bestellung hat $1 Einträge. Möglich ist nur noch, was sie zu Ende bringt.",
  ],
  // Other reasons why a change is not possible now.
  [/^The maximum of (\d+) .+ is reached\..*$/, "Mehr als $1 sind nicht erlaubt."],
  [
    /^The stock has moved: (-?\d+) units are on hand\. Count again, or send the difference\.$/,
    "Der Bestand hat sich geändert: $1 Stück sind da. Zählen Sie noch einmal, oder tragen Sie die Differenz ein.",
  ],
  [
    /^The webhook endpoint is paused\. Resume it first\.$/,
    "Der Endpunkt ist angehalten. Setzen Sie ihn zuerst fort.",
  ],
  [
    /^A person with this mail address exists already\. Change its grants, or ask the operator to do it\.$/,
    "Eine Person mit dieser E-Mail-Adresse gibt es schon. Ändern Sie ihre Rollen, oder bitten Sie einen Betreiber darum.",
  ],
  [
    /^This is the last operator who can sign in\. Give the role to another person first\.$/,
    "Das ist der letzte Betreiber, der sich anmelden kann. Geben Sie die Rolle zuerst einer anderen Person.",
  ],
  [/^The person is disabled\. Enable it first\.$/, "Die Person ist gesperrt. Entsperren Sie sie zuerst."],
  [
    /^Your own rights were changed at the same time, and no longer suffice\. Nothing was changed\.$/,
    "Ihre eigenen Rechte wurden gleichzeitig geändert und reichen nicht mehr. Es wurde nichts geändert.",
  ],
];
