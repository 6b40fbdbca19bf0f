import type { shell as en } from "../en/shell.ts";
import type { Translated } from "../texts.ts";

export const shell: Translated<typeof en> = {
  shell: {
    product: "Partner Orders",
    navigation: "Navigation",
    skip: "Zum Inhalt springen",
    theme: "Darstellung",
    themes: { auto: "System", light: "Hell", dark: "Dunkel" },
    language: "Sprache",
    role: "Angemeldet als {{role}}",
    missing: "Diese Seite gibt es nicht",
    missingHelp: "Vielleicht ist die Adresse falsch geschrieben, oder die Seite ist umgezogen.",
    toStart: "Zur ersten Seite",
  },
  navigation: {
    groups: { work: "Arbeit" },
    orders: "Bestellungen",
  },
  roles: {
    operator: "Betreiber",
    warehouse: "Lager",
    merchant: "Händler",
    partner: "Partner",
    support: "Support",
    monitoring: "Überwachung",
  },
  ui: {
    loading: "Wird geladen",
    copy: "Kopieren",
    copied: "Kopiert",
    copyOf: "{{of}} kopieren",
    clear: "Leeren",
    retry: "Noch einmal versuchen",
    nextPage: "Weiter",
    previousPage: "Zurück",
    cancel: "Abbrechen",
    close: "Schließen",
    back: "Zurück",
    required: "Das wird gebraucht.",
    crumbs: "Weg zu dieser Seite",
    downloadCsv: "CSV herunterladen",
  },
  problem: {
    title: "Das hat nicht geklappt",
    requestId: "Anfrage-Id für den Support:",
    page: "Die Seite konnte nicht gezeigt werden. Laden Sie sie neu.",
    unexpected: "Der Dienst hat unerwartet geantwortet. Versuchen Sie es in einer Minute noch einmal.",
    unreachable:
      "Der Dienst ist nicht erreichbar. Prüfen Sie Ihre Verbindung und versuchen Sie es noch einmal.",
    unauthorized: "Sie sind nicht angemeldet. Melden Sie sich an und versuchen Sie es noch einmal.",
    forbidden: "Ihre Rolle erlaubt das nicht. Bitten Sie einen Betreiber um Zugriff.",
    "not-found": "Unter dieser Adresse gibt es nichts, oder Sie dürfen es nicht sehen.",
    "rate-limited": "Zu viele Anfragen. Warten Sie eine Minute und versuchen Sie es noch einmal.",
    unavailable:
      "Der Dienst ist ausgelastet oder startet gerade. Versuchen Sie es in einer Minute noch einmal.",
    "internal-error":
      "Der Dienst hat einen Fehler gemacht. Versuchen Sie es noch einmal; hilft das nicht, senden Sie die Anfrage-Id an den Support.",
    "validation-failed": "Einige Felder stimmen nicht. Korrigieren Sie sie und versuchen Sie es noch einmal.",
  },
  signIn: {
    title: "Anmelden",
    about: "Partner Orders",
  },
  status: {
    order: {
      NEW: "Neu",
      PROCESSING: "In Prüfung",
      ACCEPTED: "Angenommen",
      IN_PROGRESS: "In Arbeit",
      COMPLETED: "Abgeschlossen",
      CANCELED: "Storniert",
      RETURNED: "Zurückgesandt",
    },
    shipment: {
      pending: "Ausstehend",
      shipped: "Unterwegs",
      delivered: "Zugestellt",
      returned: "Zurückgesandt",
    },
    charge: { pending: "Ausstehend", succeeded: "Bezahlt", failed: "Fehlgeschlagen", canceled: "Aufgehoben" },
    delivery: { pending: "Ausstehend", succeeded: "Zugestellt", failed: "Fehlgeschlagen" },
    endpoint: { active: "Aktiv", paused: "Angehalten" },
    health: { healthy: "Gesund", failing: "Gestört", backing_off: "Wartet", paused: "Angehalten" },
    product: { active: "Aktiv", discontinued: "Ausgelaufen" },
  },
};
