import type { orders as en } from "../en/orders.ts";
import type { Translated } from "../texts.ts";

export const orders: Translated<typeof en> = {
  orders: {
    title: "Bestellungen",
    order: "Bestellung",
    status: "Status",
    recipient: "Empfänger",
    merchant: "Händler",
    connection: "Verbindung",
    goods: "Warenwert",
    created: "Erstellt",
    search: "Id, Name, Firma oder Sendungsnummer",
    hold: "Sperre",
    onHold: "Gesperrt",
    notOnHold: "Nicht gesperrt",
    ready: "Versandbereit",
    notReady: "Nicht versandbereit",
    mode: "Echt oder Test",
    test: "Test",
    real: "Echt",
    empty: "Noch gibt es keine Bestellungen. Sie erscheinen hier, sobald ein Partner eine aufgibt.",
    emptyFiltered: "Keine Bestellung passt zu diesen Filtern. Entfernen Sie einen davon, um mehr zu sehen.",
  },
  holdReasons: {
    payment_failed: "Zahlung fehlgeschlagen",
    out_of_stock: "Nicht auf Lager",
    address_unserviceable: "Adresse nicht belieferbar",
    merchant_request: "Wunsch des Händlers",
  },
};
