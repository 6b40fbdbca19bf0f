import { describe, expect, it } from "vitest";
import { trackingUrlOf } from "../../../src/orders/changes/ship-request.ts";

describe("the page of a shipment at its carrier", () => {
  it.each([
    ["UPS", "https://www.ups.com/track?tracknum=N1"],
    ["FedEx", "https://www.fedex.com/fedextrack/?trknbr=N1"],
    ["USPS", "https://tools.usps.com/go/TrackConfirmAction?tLabels=N1"],
    ["DHL", "https://www.dhl.com/global-en/home/tracking.html?tracking-id=N1"],
    ["DPD", "https://tracking.dpd.de/parcelstatus?query=N1&locale=en"],
    ["GLS", "https://gls-group.com/track/N1"],
    ["Royal Mail", "https://www.royalmail.com/track-your-item#/tracking-results/N1"],
    ["Evri", "https://www.evri.com/track/parcel/N1"],
    ["PostNL", "https://postnl.nl/tracktrace/?B=N1"],
    ["La Poste", "https://www.laposte.fr/outils/suivre-vos-envois?code=N1"],
    ["Chronopost", "https://www.chronopost.fr/tracking-no-cms/suivi-page?listeNumerosLT=N1"],
    ["Correos", "https://www.correos.es/es/en/tools/tracker/items/details?tracking-number=N1"],
    ["Poste Italiane", "https://www.poste.it/cerca/index.html#/risultati-spedizioni/N1"],
    ["Austrian Post", "https://www.post.at/en/s/shipment-details?sendungsnummer=N1"],
    ["Swiss Post", "https://service.post.ch/ekp-web/ui/list?formattedParcelCodes=N1"],
    ["Canada Post", "https://www.canadapost-postescanada.ca/track-reperage/en#/details/N1"],
    ["AusPost", "https://auspost.com.au/mypost/track/#/details/N1"],
  ])("%s: %s", (carrier, url) => {
    expect(trackingUrlOf(carrier, "N1")).toBe(url);
  });

  it.each([
    ["United Parcel Service", "UPS"],
    ["Federal Express", "FedEx"],
    ["United States Postal Service", "USPS"],
    ["Deutsche Post", "DHL"],
    ["DHL Express", "DHL"],
    ["DHL Parcel", "DHL"],
    ["Hermes", "Evri"],
    ["Colissimo", "La Poste"],
    ["Australia Post", "AusPost"],
    ["ups", "UPS"],
    ["U.P.S.", "UPS"],
    ["royal-mail", "Royal Mail"],
  ])("%s is %s", (other, carrier) => {
    expect(trackingUrlOf(other, "N1")).toBe(trackingUrlOf(carrier, "N1"));
    expect(trackingUrlOf(other, "N1")).not.toBeNull();
  });

  it("encodes the number, without its white space", () => {
    expect(trackingUrlOf("GLS", " JD 01 4\t6 ")).toBe("https://gls-group.com/track/JD0146");
    expect(trackingUrlOf("GLS", "a/b?c=$&#{number}é")).toBe(
      "https://gls-group.com/track/a%2Fb%3Fc%3D%24%26%23%7Bnumber%7D%C3%A9",
    );
  });

  it.each([
    ["an unknown carrier", "Pigeon", "N1"],
    ["a name that every object has", "constructor", "N1"],
    ["no carrier", null, "N1"],
    ["no number", "DHL", null],
    ["neither", null, null],
  ])("is not known of %s", (_, carrier, number) => {
    expect(trackingUrlOf(carrier, number)).toBeNull();
  });
});
