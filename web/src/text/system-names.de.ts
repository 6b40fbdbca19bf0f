import type { systemNames as en } from "./system-names.en.ts";
import type { Translated } from "./texts.en.ts";

export const systemNames: Translated<typeof en> = {
  systemNames: {
    queues: {
      "orders to accept": "Anzunehmende Bestellungen",
      "orders to route": "Zuzuweisende Bestellungen",
      "declined charges to retry": "Zu wiederholende abgelehnte Belastungen",
      "payments to process": "Auszuführende Zahlungen",
      "test orders to erase": "Zu löschende Testbestellungen",
      "webhooks to send": "Zu sendende Webhooks",
      recoveries: "Nachlieferungen",
      "mails to send": "Zu sendende E-Mails",
    },
    checks: {
      configuration: "Konfiguration",
      "embedded PostgreSQL": "Eingebettetes PostgreSQL",
      "connection to the database": "Verbindung zur Datenbank",
      "connection to the mail server": "Verbindung zum Mailserver",
      "destinations of webhooks": "Ziele von Webhooks",
      database: "Datenbank",
      clock: "Uhr",
      migrations: "Migrationen",
      distribution: "Verteilung auf Knoten",
      workers: "Worker",
      processes: "Prozesse",
      jobs: "Aufgaben",
      "versions of processes": "Versionen der Prozesse",
      "keys of processes": "Schlüssel der Prozesse",
      "paused endpoints": "Pausierte Endpunkte",
      "secret keys": "Schlüssel der Geheimnisse",
      "partitions of events": "Partitionen der Ereignisse",
      "partitions of attempts": "Partitionen der Zustellversuche",
      "partitions of changes": "Partitionen der Änderungen",
    },
    jobs: {
      "accept-orders": "Bestellungen annehmen",
      "route-orders": "Bestellungen zuweisen",
      "complete-shipped-orders": "Versandte Bestellungen abschließen",
      "retry-declined-charges": "Abgelehnte Belastungen wiederholen",
      "process-payments": "Zahlungen ausführen",
      "publish-events": "Ereignisse für Händler und Lager veröffentlichen",
      "process-stripe-payments": "Zahlungen über Stripe ausführen",
      "mail-payment-failures": "Abgelehnte Zahlungen melden",
      "end-with-tokens": "Beenden, was beendete Token angelegt haben",
      "advance-certifications": "Zertifizierungen fortsetzen",
      "end-pull-leases": "Abgelaufene Vergaben von Pull-Endpunkten beenden",
      "report-silent-endpoints": "Pull-Endpunkte melden, von denen kein Programm abholt",
      "clear-endpoints": "Pausierte und gelöschte Endpunkte leeren",
      "erase-test-orders": "Testbestellungen löschen",
      "resend-deliveries": "Zustellungen erneut senden",
      "make-partitions": "Partitionen anlegen",
      "drop-old-partitions": "Alte Partitionen entfernen",
      "purge-delivery-log": "Zustellprotokoll bereinigen",
      "remove-deleted-endpoints": "Gelöschte Endpunkte entfernen",
      "remove-ended-connections": "Testschlüssel ohne Person entfernen",
      "reseal-secrets": "Geheimnisse neu verschlüsseln",
      "find-due-deliveries": "Fällige Zustellungen finden",
      "send-mails": "E-Mails senden",
      "purge-mails": "E-Mails bereinigen",
      "erase-personal-data": "Personenbezogene Daten löschen",
      "purge-pick-lists": "Picklisten bereinigen",
      "purge-stock-movements": "Bestandsbewegungen bereinigen",
      "purge-people-records": "Sitzungen und Links bereinigen",
      "purge-audit-entries": "Protokoll bereinigen",
      "count-order-days": "Bestellungen je Tag zählen",
      "sort-in-new-words": "Neue Bestellungen für die Suche indizieren",
      "purge-processes": "Beendete Prozesse bereinigen",
      "gather-first-statistics": "Statistik neuer Tabellen erheben",
    },
    reasons: {
      "version-too-old": "{{version}} ist zu alt. Der Dienst braucht PostgreSQL {{needed}} oder neuer.",
      "migrations-missing":
        "Nicht angewendet: {{migrations}}. Starten Sie den Dienst, oder führen Sie aus: npm run cli -- migrate",
      "clock-ahead": "Die Uhr dieses Rechners geht gegenüber der Datenbank {{apartMs}} vor.",
      "clock-behind": "Die Uhr dieses Rechners geht gegenüber der Datenbank {{apartMs}} nach.",
      "work-waits": "Die älteste Arbeit wartet seit {{waitingMs}}. Prüfen Sie, ob genug Worker laufen.",
      "endpoints-paused": "Pausiert: {{count, number}}. Partner können sie fortsetzen.",
      "not-distributed":
        "Citus ist installiert, aber keine Tabelle ist verteilt. Führen Sie aus: npm run cli -- distribute",
      "tables-misplaced":
        "Nicht dort, wo sie sein sollen: {{tables}}. Führen Sie aus: npm run cli -- distribute",
      "no-partition":
        "Für heute gibt es keine Partition. Es kann keine Zeile gespeichert werden. Prüfen Sie, ob ein Worker läuft.",
      "few-partitions":
        "Partitionen gibt es nur für die nächsten {{aheadMs}}. Prüfen Sie, ob ein Worker läuft.",
      "secret-keys-missing":
        "In WEBHOOK_SECRET_KEYS fehlt {{keys}}. Geheimnisse in der Datenbank können nicht entschlüsselt werden.",
      "no-worker":
        "Seit {{stoppedMs}} läuft kein Worker. Nichts wird zugestellt, abgebucht, angenommen oder gemailt. Starten Sie einen Prozess mit der Rolle worker.",
      "processes-missing":
        "Seit einer Minute nicht gesehen: {{processes}}. Der Prozess wurde beendet oder erreicht die Datenbank nicht.",
      "jobs-failed": "Der letzte Lauf ist fehlgeschlagen: {{jobs}}. Das Log des Workers nennt den Grund.",
      "versions-differ":
        "Nicht die zuletzt gestartete Version {{version}}: {{processes}}. Starten Sie den Prozess neu, falls keine Aktualisierung läuft.",
      "processes-lack-keys":
        "Ohne einen Schlüssel, mit dem andere verschlüsseln: {{processes}}. Starten Sie den Prozess mit den aktuellen WEBHOOK_SECRET_KEYS neu.",
      "embedded-postgres":
        "Das eingebettete PostgreSQL ist zum Ausprobieren. Setzen Sie DATABASE_URL auf einen Server, der gewartet und gesichert wird.",
      "database-in-the-clear":
        "Die Verbindung zur Datenbank auf einem anderen Rechner ist nicht verschlüsselt. Ergänzen Sie sslmode=verify-full in DATABASE_URL.",
      "mail-in-the-clear":
        "SMTP_URL erlaubt, E-Mails unverschlüsselt an einen anderen Rechner zu senden. Entfernen Sie ignoreTLS und requireTLS daraus.",
      "private-destinations":
        "Partner können Anfragen in Ihr Netzwerk senden lassen. Entfernen Sie WEBHOOK_ALLOW_PRIVATE_NETWORKS; es ist zum Ausprobieren.",
      "proxies-not-trusted":
        "Hinter einem Proxy haben alle Clients dessen Adresse und teilen sich die Grenzen der Anmeldung und der Testschlüssel. Setzen Sie TRUSTED_PROXIES auf die Adressen Ihrer Proxys.",
    },
  },
};
