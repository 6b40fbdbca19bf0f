import type { Explanation } from "../explanations.ts";

/** What the service says about changes that are not possible. */
export const problemExplanations: readonly Explanation[] = [
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
  [/^The order is not on hold\.$/, "Die Bestellung ist nicht gesperrt."],
  [
    /^The order is already on hold for the only reason that you may set\.$/,
    "Die Bestellung ist aus dem einzigen Grund, den Sie wählen können, schon gesperrt.",
  ],
  [
    /^The personal data of the buyer was erased already\.$/,
    "Die personenbezogenen Daten des Käufers sind schon gelöscht.",
  ],
  // Of sign-in, keys, and what is sent.
  [/^The token was revoked\. Create a new one\.$/, "Das Token wurde widerrufen. Erstellen Sie ein neues."],
  [/^The token has expired\. Create a new one\.$/, "Das Token ist abgelaufen. Erstellen Sie ein neues."],
  [
    /^The token was already rotated\. Rotate the token that replaced it, or revoke both and create a new one\.$/,
    "Das Token wurde schon ersetzt. Ersetzen Sie das neuere, oder widerrufen Sie beide und erstellen Sie ein neues.",
  ],
  [
    /^The key was revoked\. Issue a new one\.$/,
    "Der Schlüssel wurde widerrufen. Stellen Sie einen neuen aus.",
  ],
  [/^The key has expired\. Issue a new one\.$/, "Der Schlüssel ist abgelaufen. Stellen Sie einen neuen aus."],
  [
    /^The key was already rotated\. Rotate the key that replaced it, or revoke both and issue a new one\.$/,
    "Der Schlüssel wurde schon ersetzt. Ersetzen Sie den neueren, oder widerrufen Sie beide und stellen Sie einen neuen aus.",
  ],
  [/^The body is larger than (\d+) (.+)\.$/, "Die Datei oder die Eingabe ist größer als $1 $2."],
  [
    /^An order in review cannot be canceled: it never had a cancel window\. It remains active, and its events continue\.$/,
    "Eine Bestellung in Prüfung kann so nicht storniert werden. Sie läuft weiter.",
  ],
  [
    /^The order's cancel window has closed\. The order remains active, and its events continue\.$/,
    "Die Zeit zum Stornieren ist vorbei. Die Bestellung läuft weiter.",
  ],
  [
    /^The request needs an Idempotency-Key header, an externalOrderId, or both\.$/,
    "Es fehlt eine externe Bestell-ID oder ein Idempotency-Key.",
  ],
  [
    /^This idempotency key was already used for a different request\. The key is the Idempotency-Key header or, without it, the externalOrderId\.$/,
    "Dieser Schlüssel gehört schon zu einer anderen Anfrage. Er ist der Idempotency-Key oder, ohne ihn, die externe Bestell-ID.",
  ],
  [
    /^Another order of this connection has this externalOrderId\.$/,
    "Eine andere Bestellung dieser Verbindung hat diese externe Bestell-ID.",
  ],
  [
    /^The person has accepted the invitation\. It can reset its password by mail\.$/,
    "Die Person hat die Einladung angenommen. Sie kann ihr Passwort per E-Mail neu setzen.",
  ],
  [
    /^At most (\d+) invitations are sent to a person within 15 minutes\.$/,
    "Eine Person bekommt höchstens $1 Einladungen in 15 Minuten.",
  ],
  [
    /^The password is not right\. It is required for a person who has one\.$/,
    "Das Passwort stimmt nicht. Wer eines hat, muss es angeben.",
  ],
  [
    /^One-time codes are set up already\. Remove them first\.$/,
    "Einmalcodes sind schon eingerichtet. Schalten Sie sie zuerst aus.",
  ],
  [/^The password or the code is not right\.$/, "Das Passwort oder der Code stimmt nicht."],
  [
    /^The code is not right\. Compare the clock of the device\.$/,
    "Der Code stimmt nicht. Vergleichen Sie die Uhr des Geräts.",
  ],
  [
    /^The passkey does not fit the request for it, or that is older than five minutes\.$/,
    "Der Passkey passt nicht zur Anfrage, oder sie ist älter als fünf Minuten.",
  ],
  [
    /^A person has at most (\d+) passkeys\. Remove one first\.$/,
    "Eine Person hat höchstens $1 Passkeys. Entfernen Sie zuerst einen.",
  ],
  [
    /^Confirm that it is you: this needs a password, a code or a passkey within the last 15 minutes\.$/,
    "Bestätigen Sie, dass Sie es sind: Das geht nur innerhalb von 15 Minuten nach einem Passwort, einem Code oder einem Passkey.",
  ],
];
