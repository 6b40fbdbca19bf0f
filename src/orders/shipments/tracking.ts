import type { Order } from "../../lifecycle/order.ts";
import type { ShipmentChange, Tracking, Transition } from "../../lifecycle/transition.ts";

/** The tracking pages of large carriers. `{number}` is replaced by the tracking number. */
const TRACKING_PAGES: Readonly<Record<string, string>> = {
  ups: "https://www.ups.com/track?tracknum={number}",
  fedex: "https://www.fedex.com/fedextrack/?trknbr={number}",
  usps: "https://tools.usps.com/go/TrackConfirmAction?tLabels={number}",
  dhl: "https://www.dhl.com/global-en/home/tracking.html?tracking-id={number}",
  dpd: "https://tracking.dpd.de/parcelstatus?query={number}&locale=en",
  gls: "https://gls-group.com/track/{number}",
  royalmail: "https://www.royalmail.com/track-your-item#/tracking-results/{number}",
  evri: "https://www.evri.com/track/parcel/{number}",
  postnl: "https://postnl.nl/tracktrace/?B={number}",
  laposte: "https://www.laposte.fr/outils/suivre-vos-envois?code={number}",
  chronopost: "https://www.chronopost.fr/tracking-no-cms/suivi-page?listeNumerosLT={number}",
  correos: "https://www.correos.es/es/en/tools/tracker/items/details?tracking-number={number}",
  posteitaliane: "https://www.poste.it/cerca/index.html#/risultati-spedizioni/{number}",
  austrianpost: "https://www.post.at/en/s/shipment-details?sendungsnummer={number}",
  swisspost: "https://service.post.ch/ekp-web/ui/list?formattedParcelCodes={number}",
  canadapost: "https://www.canadapost-postescanada.ca/track-reperage/en#/details/{number}",
  auspost: "https://auspost.com.au/mypost/track/#/details/{number}",
};

/** Other names for them. */
const ALIASES: Readonly<Record<string, string>> = {
  unitedparcelservice: "ups",
  federalexpress: "fedex",
  unitedstatespostalservice: "usps",
  deutschepost: "dhl",
  dhlexpress: "dhl",
  dhlparcel: "dhl",
  hermes: "evri",
  colissimo: "laposte",
  australiapost: "auspost",
};

/**
 * The tracking page of a carrier. Null if the carrier is not in the list. Case and punctuation of the name do not
 * matter.
 */
export function trackingUrlOf(carrier: string | null, trackingNumber: string | null): string | null {
  if (carrier === null || trackingNumber === null) return null;
  const name = carrier.toLowerCase().replace(/[^a-z0-9]/g, "");
  const page = TRACKING_PAGES[ALIASES[name] ?? name];
  return page?.replace("{number}", encodeURIComponent(trackingNumber.replace(/\s+/g, ""))) ?? null;
}

/**
 * A carrier or a tracking number as it is stored. Copied ones often have spaces around them. A scan is compared with the whole
 * number, and would not find it. Null if nothing else is left.
 */
const trackingText = (text: string | null): string | null => text?.trim() || null;

/** The tracking of a new shipment. Absent fields are unknown. */
export function toTracking(request: Partial<Tracking>): Tracking {
  const carrier = trackingText(request.carrier ?? null);
  const trackingNumber = trackingText(request.trackingNumber ?? null);
  const trackingUrl = request.trackingUrl ?? trackingUrlOf(carrier, trackingNumber);
  return { carrier, trackingNumber, trackingUrl };
}

/**
 * The transition that a change of a shipment means. If the request has no tracking address, a new number replaces the
 * address, which belongs to the old number.
 */
export function toShipmentUpdate(order: Order, shipmentId: string, requested: ShipmentChange): Transition {
  const shipment = order.shipments.find(({ id }) => id === shipmentId);
  const change = {
    ...requested,
    ...(requested.carrier !== undefined && { carrier: trackingText(requested.carrier) }),
    ...(requested.trackingNumber !== undefined && { trackingNumber: trackingText(requested.trackingNumber) }),
  };
  const asSent: Transition = { name: "updateShipment", shipmentId, change };
  if (shipment === undefined || requested.trackingUrl !== undefined) return asSent;
  const { carrier, trackingNumber } = { ...shipment, ...change };
  const isSameNumber = trackingNumber === shipment.trackingNumber;
  if (isSameNumber && carrier === shipment.carrier) return asSent;
  const trackingUrl = trackingUrlOf(carrier, trackingNumber) ?? (isSameNumber ? shipment.trackingUrl : null);
  return { ...asSent, change: { ...change, trackingUrl } };
}
