import { describe, expect, it } from "vitest";
import { possibleTrackingNumbers, trackingNumberOf } from "../../../src/orders/changes/tracking-number.ts";

const USPS = "9400111201080805483016";
const FEDEX_GROUND = "987654312345672";

describe("the printed number is taken out of what a label's barcode says", () => {
  it.each<[string, string, string | null, string]>([
    ["USPS with a ZIP of 5 digits", `42022153${"9101026837331000039521"}`, "USPS", "9101026837331000039521"],
    ["USPS with a ZIP of 9 digits", "4201028200009261290113185417468510", "USPS", "9261290113185417468510"],
    ["USPS when no carrier is named", `42022153${USPS}`, null, USPS],
    ["USPS by another carrier that uses its numbers", `42022153${USPS}`, "DHL eCommerce", USPS],
    ["USPS of 26 digits", "4202215392748931507708513018050063", null, "92748931507708513018050063"],
    ["USPS with identifiers in brackets", "(420)22153(94)00111201080805483016", null, USPS],
    ["USPS with its identifier alone", "(91)01026837331000039521", null, "9101026837331000039521"],
    ["USPS in groups", "9400 1112 0108 0805 4830 16", "USPS", USPS],
    ["USPS with hyphens", "9400-1112-0108-0805-4830-16", null, USPS],
    ["USPS with the prefix of a scanner", `]C142022153${USPS}`, null, USPS],
    ["FedEx Express of 34 digits", "1001921334250001000300779017972697", "FedEx", "779017972697"],
    ["FedEx Express when no carrier is named", "1002297871540001000300790695517286", null, "790695517286"],
    ["FedEx of 34 digits that begin with 96", "9622001560001234567100794808390594", "FedEx", "794808390594"],
    ["FedEx Ground of 22 digits", "9611020987654312345672", "FedEx", FEDEX_GROUND],
    ["FedEx Ground by its other name", "9611020987654312345672", "Federal Express", FEDEX_GROUND],
    ["FedEx Ground in groups", "5682 8361 0012 734", "FedEx", "568283610012734"],
    ["UPS in groups", "1Z 999 AA1 01 2345 6784", "UPS", "1Z999AA10123456784"],
    ["UPS with caps lock", "1z999aa10123456784", "UPS", "1Z999AA10123456784"],
    ["DPD", "%008182709980000020033350276", "DPD", "09980000020033"],
    [
      "DPD when no carrier is named, in groups",
      "%0081 827 0998 0000 0200 33 350 276",
      null,
      "09980000020033",
    ],
    ["DPD in Great Britain, with caps lock", "%0sw1a1a15502345678901154826", "DPD", "15502345678901"],
    ["a post's, with caps lock", "rb123456785gb", "Royal Mail", "RB123456785GB"],
    ["a post's, in groups with caps lock", "rb 123 456 785 de", null, "RB123456785DE"],
    ["a parcel's number of GS1", "(00)340434161094042557", "DHL", "00340434161094042557"],
    ["a number in groups of a carrier that is not known", "RR 123 456 785 DE", "Post", "RR123456785DE"],
    ["spaces around it", "  JD01  ", "DHL", "JD01"],
  ])("%s", (_, scanned, carrier, number) => {
    expect(trackingNumberOf(scanned, carrier)).toBe(number);
    expect(trackingNumberOf(number, carrier)).toBe(number);
  });
});

describe("nothing is taken out without evidence", () => {
  it.each<[string, string, string | null]>([
    ["a wrong check digit of USPS", `42022153${USPS.slice(0, -1)}7`, "USPS"],
    ["420 before something else", "42022153001234567890123456", "USPS"],
    ["a wrong check digit of FedEx", "1001901781990001000300617767839438", "FedEx"],
    ["22 digits of another carrier that begin with 96", "9611020987654312345672", "GLS"],
    ["22 digits when no carrier is named", "9611020987654312345672", null],
    ["34 digits that begin otherwise", "2001921334250001000300779017972697", "FedEx"],
    ["a hyphen that belongs to an air waybill", "123-45678901", "Lufthansa Cargo"],
    ["a word", "picked up by hand", null],
    ["words with a number", "Pallet 3 of 4", null],
    ["a number with capitals", "JJD0099999", "DHL"],
    ["letters in brackets", "(copy) 123", null],
    ["a short number", "1", null],
    ["small letters with a wrong check digit", "rb123456784gb", "Royal Mail"],
    ["a percent sign before fewer digits", "%00818270998000002003335027", "DPD"],
    ["DPD's printed line", "008182709980000020033350276C", "DPD"],
  ])("%s", (_, scanned, carrier) => {
    expect(trackingNumberOf(scanned, carrier)).toBe(scanned);
  });
});

it("a code finds the printed number and itself, whatever the carrier", () => {
  expect(possibleTrackingNumbers(`42022153${USPS}`)).toEqual([`42022153${USPS}`, USPS]);
  expect(possibleTrackingNumbers("9611020987654312345672")).toContain(FEDEX_GROUND);
  expect(possibleTrackingNumbers("JD01")).toEqual(["jd01"]);
});
