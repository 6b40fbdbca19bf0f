import type { sandbox as en } from "./sandbox.en.ts";
import type { Translated } from "./texts.en.ts";

export const sandbox: Translated<typeof en> = {
  sandbox: {
    title: "Sandbox",
    about:
      "Legen Sie eine Testbestellung an, führen Sie sie durch ihren Ablauf, und sehen Sie ihre Ereignisse bei Ihrem Endpunkt ankommen.",
    choose: "Wählen Sie die Verbindung, deren Sandbox Sie nutzen wollen.",
    create: "Testbestellung anlegen",
    createAbout:
      "Für Ihr Programm ist sie echt: Ihre Ereignisse werden signiert und gesendet. Sie wird nie berechnet oder versandt und nach einiger Zeit gelöscht.",
    orders: "Testbestellungen",
    noOrders: "Es gibt keine Testbestellungen. Legen Sie eine an, um ihre Ereignisse zu sehen.",
    lines: "Produkte",
    addLine: "Produkt hinzufügen",
    removeLine: "Produkt {{number}} entfernen",
    noProducts:
      "{{merchant}} hat dieser Verbindung noch kein Produkt freigegeben. Eine Testbestellung braucht eines.",
    productPlaceholder: "SKU oder Name",
    productNotFound: "Kein freigegebenes Produkt hat diese SKU oder diesen Namen.",
    externalOrderId: "Ihre Bestell-ID",
    note: "Nachricht an den Händler",
    code: "Code",
    copyAs: "Als {{language}} kopieren",
    erase: "Entfernen",
    eraseEffect:
      "Die Testbestellung verschwindet mit ihren Ereignissen und Zustellungen, und ihre Nummer ist sofort frei. Das lässt sich nicht rückgängig machen.",
    eraseDone: "Die Testbestellung wurde entfernt.",
    numberHelp: "Eine Testbestellung belegt ihre Nummer wie eine echte Bestellung, bis sie entfernt wird.",
    erased: "gelöscht",
    openOrder: "Wie der Händler sie sieht",
    shippedLines: "{{shipped}} von {{lines}} Positionen versandt",
    lifecycle: "Ablauf",
    picture: "Bild des Ablaufs",
    current: "jetzt",
    applied: "Der Übergang ist ausgeführt. Status: {{status}}.",
    transitionsTitle: "Übergänge",
    possible: "Möglich",
    impossible: "Jetzt nicht",
    noChange: "Möglich, würde aber jetzt nichts ändern.",
    noEvent: "Es wird kein Ereignis gesendet.",
    publishes: "Gesendet wird {{events}}.",
    holdWith: "Mit Gründen anhalten",
    shipWith: "Mit Sendungsnummer versenden",
    returnWith: "Sendung wählen",
    reasonsHelp: "Nach jedem Enter drücken. Jedes Wort ist möglich. Leer: out_of_stock.",
    transitions: {
      process: "Prüfen",
      accept: "Annehmen",
      hold: "Anhalten",
      releaseHold: "Aufheben",
      ship: "Versenden",
      returnShipment: "Rücksenden",
      complete: "Abschließen",
      cancel: "Stornieren",
    },
    effects: {
      process: "Jemand beim Händler prüft die Bestellung. Die API kann sie nicht mehr stornieren.",
      accept: "Das Stornofenster ist zu: Die API kann die Bestellung nicht mehr stornieren.",
      hold: "Die Bestellung wird nicht versandt, bis der Halt aufgehoben ist. Ihr Status bleibt.",
      releaseHold: "Die Bestellung kann wieder versandt werden.",
      ship: "Eine Sendung mit allen noch nicht versandten Positionen verlässt das Lager.",
      returnShipment: "Die neueste Sendung, die unterwegs ist, kommt zurück.",
      complete: "Die Bestellung ist fertig. Nur eine Rücksendung kann noch folgen.",
      cancel: "Die Bestellung wird storniert, gleich welchen Status sie hat. Ihre API storniert nur neue.",
    },
    rules: {
      order_on_hold: "Eine angehaltene Bestellung wird nicht versandt. Heben Sie erst den Halt auf.",
      unshipped_lines:
        "Eine Bestellung mit einer nicht versandten Position wird nicht abgeschlossen. Versenden Sie sie erst.",
      order_settled:
        "Die Bestellung ist abgeschlossen, storniert oder zurückgekommen. Nur eine Rücksendung kann folgen.",
      no_shipment_out: "Keine Sendung ist unterwegs, die zurückkommen könnte.",
      nothing_to_ship: "Jede Position hat eine Sendung.",
    },
    events: "Ereignisse",
    noEndpoint:
      "Kein Endpunkt empfängt die Ereignisse dieser Bestellung. Legen Sie einen an, und dann eine neue Testbestellung.",
    unwanted: "Kein Endpunkt empfängt diese Art von Ereignis.",
    secretOf: "Signaturschlüssel von {{url}}",
    secretHelp:
      "Freiwillig. Dieser Browser prüft damit jede Signatur. Er wird nicht gesendet oder gespeichert.",
    signatureUnknown: "Signatur nicht mehr bekannt",
    rehearseFault: "Das nächste Ereignis zweimal senden lassen, oder mit einem anderen Fehler",
    steps: "Dasselbe mit Ihrem Programm",
    stepsAbout:
      "Jeder Schritt als Anfrage der Partner-API. Setzen Sie zuerst KEY auf einen API-Schlüssel dieser Verbindung.",
    language: "Sprache des Codes",
    read: "Bestellung lesen",
    cancelAsPartner: "Stornieren, wie Ihr Programm es tut",
  },
};
