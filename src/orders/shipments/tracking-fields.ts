import { Type } from "typebox";
import { shortText } from "../../platform/wire/schemas.ts";

// Fields of requests that describe a shipment. The sandbox and the warehouse have the same limits.

/** Both are stored without spaces around them (`trackingText`). */
const TRIMMED = "Spaces around it are removed.";

export const carrierField = (description = "Name of the carrier.") =>
  shortText(`${description} ${TRIMMED}`, ["DHL"]);

export const trackingNumberField = (description = "Tracking number of the carrier.") =>
  shortText(`${description} ${TRIMMED}`);

export const trackingUrlField = (description = "Address where the shipment can be tracked.") =>
  Type.String({
    maxLength: 2_000,
    format: "web-address",
    description: `${description} If it is absent, the service makes it from the carrier and the number, for large carriers.`,
  });
