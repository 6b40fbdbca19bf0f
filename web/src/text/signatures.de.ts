import type { signatures as en } from "./signatures.en.ts";
import type { Translated } from "./texts.en.ts";

export const signatures: Translated<typeof en> = {
  doctor: {
    title: "Signaturdoktor",
    about: "Finden Sie heraus, warum Ihr Endpunkt eine Anfrage ablehnt.",
    private: "Alles wird in diesem Browser geprüft. Was Sie einfügen, wird weder gesendet noch gespeichert.",
    evidence: "Was Ihr Endpunkt empfangen hat",
    of: "Header und Inhalt gehören zu einer Zustellung, die der Dienst gesendet hat.",
    ofDelivery: "Zustellung",
    headers: "Header",
    headersHelp: "Wie Ihr Programm sie protokolliert: Zeilen, JSON oder ein curl-Befehl.",
    body: "Inhalt",
    bodyHelp: "Die empfangenen Bytes, bevor etwas sie auswertet.",
    secret: "Signaturschlüssel",
    secretHelp: "Er beginnt mit whsec_. Der Dienst zeigt ihn beim Anlegen und beim Ersetzen.",
    more: "Weitere Angaben",
    computed: "Signatur, die Ihr Programm berechnet hat",
    computedHelp: "Freiwillig. Sie zeigt, welcher Schritt Ihres Programms abweicht.",
    arrival: "Zeit der Ankunft nach der Uhr Ihres Servers",
    arrivalHelp: "Freiwillig. Ein Datum wie 2026-03-02T09:00:00Z oder Sekunden seit 1970.",
    clear: "Leeren",
    result: "Ergebnis",
    start: "Fügen Sie Header, Inhalt und Signaturschlüssel ein. Hier erscheint das Ergebnis.",
    documentation: "Signaturen prüfen: wie es geht, mit Programmen",
    check: "Signatur prüfen",
    insecure:
      "Der Browser berechnet Signaturen nur auf Seiten, die über https:// oder von localhost geladen wurden. Öffnen Sie die Konsole so.",
    severities: { fault: "Fehler", warning: "Warnung", note: "Hinweis" },
    verdicts: {
      genuine: "Die Signatur stimmt",
      explained: "Die Ursache ist gefunden",
      different: "Die Signatur passt nicht",
      incomplete: "Das lässt sich noch nicht prüfen",
    },
    verdictsAbout: {
      genuine: "Der Dienst hat diese Anfrage gesendet und mit diesem Schlüssel signiert.",
      explained: "Die Anfrage ist echt: Ohne die Fehler unten passt die Signatur.",
      different:
        "Dieser Schlüssel hat diesen Inhalt nicht signiert. Die wahrscheinliche Ursache steht unten.",
      incomplete: "Korrigieren Sie, was unten steht.",
    },
    findings: {
      headers_absent: "Fügen Sie die Header der Anfrage ein.",
      header_missing:
        "{{name}} fehlt. Protokollieren Sie alle Header, wie Ihr Server sie empfängt: Ein Proxy entfernt vielleicht, was er nicht kennt.",
      body_absent: "Fügen Sie den Inhalt der Anfrage ein.",
      secret_absent: "Fügen Sie den Signaturschlüssel des Endpunkts ein.",
      input_too_long: "Das ist länger als jede Anfrage des Dienstes.",
      header_renamed:
        "{{name}} kam als {{given}} an. Lesen Sie ihn unter diesem Namen, oder stellen Sie den Proxy so ein, dass er ihn behält.",
      header_repeated: "{{name}} kommt zweimal mit verschiedenen Werten vor. Hier gilt der erste.",
      id_form: "webhook-id ist {{id}}. Der Dienst sendet die ID des Ereignisses; sie beginnt mit evt_.",
      id_differs:
        "webhook-id ist {{id}}, aber der Inhalt gehört zum Ereignis {{eventId}}. Header und Inhalt stammen von verschiedenen Anfragen, oder Ihr Programm hat die ID geändert.",
      timestamp_milliseconds:
        "webhook-timestamp steht in Millisekunden. Verwenden Sie die empfangenen Sekunden unverändert.",
      timestamp_form:
        "webhook-timestamp ist keine Zahl von Sekunden seit 1970. Verwenden Sie den empfangenen Text unverändert.",
      timestamp_old:
        "Die Anfrage wurde vor {{age}} gesendet. Empfänger lehnen Anfragen ab, die bei der Ankunft älter als fünf Minuten sind.",
      timestamp_future:
        "Nach der Uhr dieses Rechners wird die Anfrage erst in {{age}} gesendet. Eine der Uhren geht falsch.",
      clock_behind:
        "Die Uhr Ihres Servers geht {{age}} nach. Gleichen Sie sie ab (NTP): Fünf Minuten werden toleriert.",
      clock_ahead:
        "Die Anfrage kam {{age}} nach dem Senden an. Die Uhr Ihres Servers geht vor, oder die Anfrage wartete vor der Prüfung in einer Schlange.",
      arrival_form: "Die Zeit der Ankunft ist nicht lesbar.",
      signature_unversioned:
        "Die Signatur hat keine Version. Vergleichen Sie mit dem ganzen v1,… wie empfangen.",
      signature_version: "Version {{version}} ist eine andere Art von Signatur. Der Dienst signiert mit v1.",
      signature_hex: "Die Signatur steht in Hexadezimalziffern. Der Dienst schreibt base64.",
      signature_url_safe:
        "Die Signatur steht im base64 für Adressen, mit - und _. Der Dienst verwendet + und /.",
      signature_separator:
        "Die Signaturen sind durch Kommas getrennt. Der Dienst trennt sie durch Leerzeichen.",
      signature_length:
        "Eine Signatur hat 32 Bytes, diese hat {{bytes}}. Vielleicht wurde sie abgeschnitten.",
      signature_form: "Eine Signatur ist nicht lesbar: Sie besteht aus v1, und base64.",
      signatures_several:
        "Die Anfrage hat {{count, number}} Signaturen, weil der Schlüssel ersetzt wurde. Eine passende genügt: Vergleichen Sie mit jeder.",
      secret_is_key:
        "Das ist ein API-Schlüssel. Verwenden Sie den Signaturschlüssel des Endpunkts; er beginnt mit whsec_.",
      secret_is_id:
        "Das ist eine ID ({{prefix}}…). Verwenden Sie den Signaturschlüssel des Endpunkts; er beginnt mit whsec_.",
      secret_wrapped:
        "Um den Schlüssel stehen Leerzeichen, Zeilenumbrüche oder Anführungszeichen. Entfernen Sie sie, wo Ihr Programm ihn liest.",
      secret_without_prefix:
        "Der Schlüssel beginnt mit whsec_. Bibliotheken brauchen diesen Teil vielleicht.",
      secret_form: "Der Teil nach whsec_ ist kein base64. Vielleicht wurde er abgeschnitten oder verdeckt.",
      secret_length: "Der Schlüssel hat {{bytes}} Bytes statt 32. Vielleicht wurde er abgeschnitten.",
      secret_older:
        "Mit Ihrem Schlüssel entstand Signatur {{position}} von {{count, number}}. Er wurde ersetzt und signiert nur noch bis zum Ende der Überlappung. Speichern Sie den neuen.",
      secret_differs:
        "Header und Inhalt wirken unverändert, also ist der Schlüssel ein anderer: von einem anderen Endpunkt, vom Test- oder Live-Endpunkt, oder aus der Zeit davor. Ist er verloren, ersetzen Sie ihn.",
      body_wrapped: "Um den Inhalt stehen Leerzeichen oder Zeilenumbrüche, die nicht signiert wurden.",
      body_quoted:
        "Der Inhalt ist ein JSON-Text in JSON. Prüfen Sie den Text darin, bevor er erneut als JSON geschrieben wird.",
      body_base64:
        "Der Inhalt steht in base64, wie manche Gateways ihn weitergeben. Entschlüsseln Sie ihn vorher.",
      body_charset:
        "Der Inhalt wurde als Latin-1 gelesen. Lesen Sie seine Bytes als UTF-8, oder prüfen Sie die Bytes.",
      body_rewritten:
        "Der Inhalt wurde ausgewertet und neu geschrieben: Leerzeichen, Umbrüche oder Schreibweisen weichen ab. Prüfen Sie die empfangenen Bytes, bevor Ihr Framework sie auswertet.",
      body_changed:
        "Der Inhalt hat nicht die Form, in der der Dienst sendet, und auch seine Werte weichen ab.",
      body_order:
        "Die Felder des Inhalts stehen in anderer Reihenfolge als beim Dienst. Er wurde ausgewertet und neu geschrieben.",
      body_not_json:
        "Der Inhalt ist kein vollständiges JSON. Vielleicht wurde er abgeschnitten, etwa von einem Protokoll.",
      computed_right: "Ihr Programm hat die richtige Signatur berechnet. Der Fehler liegt im Vergleich.",
      computed_hex:
        "Ihr Programm hat die richtige Signatur berechnet, schreibt sie aber in Hexadezimalziffern. Schreiben Sie base64.",
      computed_secret_text:
        "Ihr Programm verwendet den Text des Schlüssels. Wandeln Sie zuerst den Teil nach whsec_ aus base64 um.",
      computed_prefix_kept:
        "Ihr Programm verwendet whsec_ als Teil des Schlüssels. Entfernen Sie es, und wandeln Sie den Rest aus base64 um.",
      computed_body_only:
        "Ihr Programm signiert nur den Inhalt. Signieren Sie webhook-id, Punkt, webhook-timestamp, Punkt, Inhalt.",
      computed_without_id: "Ihr Programm lässt am Anfang webhook-id und den Punkt weg.",
      computed_without_timestamp: "Ihr Programm lässt webhook-timestamp und den Punkt weg.",
      computed_rewritten:
        "Ihr Programm signiert den Inhalt, nachdem er ausgewertet und neu geschrieben wurde. Signieren Sie die empfangenen Bytes.",
      computed_unlike:
        "Was Ihr Programm berechnet hat, ist kein HMAC-SHA-256: Es hat nicht 32 Bytes in base64.",
      computed_unknown:
        "Keiner der üblichen Fehler führt zu dem, was Ihr Programm berechnet hat. Vergleichen Sie die Eingaben Byte für Byte.",
    },
  },
};
