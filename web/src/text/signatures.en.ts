import { TEXTS } from "../../../packages/signature-doctor/texts.ts";

export const signatures = {
  doctor: {
    title: "Signature doctor",
    about: "Find out why your endpoint rejects a request.",
    private: "Everything is checked in this browser. Your input is not sent, stored or logged.",
    evidence: "What your endpoint received",
    of: "The headers and the body are those of a delivery that the service sent.",
    ofDelivery: "Delivery",
    headers: "Headers",
    headersHelp: "As your program logs them: lines, JSON, or a curl command.",
    body: "Body",
    bodyHelp: "The received bytes, before any parsing.",
    secret: "Signing secret",
    secretHelp:
      "It begins with whsec_. The service shows it when the endpoint is created and when it is rotated.",
    more: "More evidence",
    computed: "Signature that your program computed",
    computedHelp: "Optional. It shows which step of your program differs.",
    arrival: "Time of arrival, by the clock of your server",
    arrivalHelp: "Optional. A date such as 2026-03-02T09:00:00Z, or seconds since 1970.",
    clear: "Clear",
    result: "Result",
    start: "Paste the headers, the body and the signing secret. The result appears here.",
    documentation: "Verify signatures: how it works, with programs",
    check: "Check the signature",
    insecure:
      "The browser only computes signatures on pages that were loaded over https:// or from localhost. Open the console that way.",
    ...TEXTS,
  },
};
