import type { Order } from "../api/schema.d.ts";
import { countryName } from "../text/format.ts";
import { Parts } from "./page.tsx";

type Address = Omit<Order["shippingAddress"], "phone" | "firstName" | "lastName">;

/** The lines of an address as they are written on a parcel, each with its parts. */
const linesOf = (to: Address): readonly string[][] =>
  [
    [to.name],
    [to.company],
    [to.address1],
    [to.address2],
    [to.zip, to.city],
    [to.stateCode],
    [countryName(to.countryCode)],
  ].flatMap((parts) => {
    const present = parts.filter((part) => part !== null && part !== "") as string[]; // What is left is text.
    return present.length === 0 ? [] : [present];
  });

export const addressText = (to: Address): string =>
  linesOf(to)
    .map((parts) => parts.join(" "))
    .join("\n");

/** An address, a line each. */
export const AddressLines = ({ of }: { of: Address }) =>
  linesOf(of).map((parts, index) => (
    <div key={index}>
      <Parts of={parts} between=" " />
    </div>
  ));
