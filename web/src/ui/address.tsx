import type { FacilityAddress } from "../api/schema.d.ts";
import { countryName } from "../text/format.ts";
import { type PostalAddress, postalLines } from "../text/postal.ts";
import { Parts } from "./page.tsx";

/** The lines of an address as they are written on a parcel, each with its parts. */
const linesOf = (to: PostalAddress): readonly string[][] => [
  ...postalLines(to),
  [countryName(to.countryCode)],
];

export const addressText = (to: PostalAddress): string =>
  linesOf(to)
    .map((parts) => parts.join(" "))
    .join("\n");

/** An address, a line each. */
export const AddressLines = ({ of }: { of: PostalAddress }) =>
  linesOf(of).map((parts, index) => (
    <div key={index}>
      <Parts of={parts} between=" " />
    </div>
  ));

/** Where a parcel comes from and comes back to, with the ways to ask about it. */
export const SenderLines = ({
  name,
  countryCode,
  address,
}: {
  readonly name: string;
  readonly countryCode: string;
  readonly address: FacilityAddress;
}) => (
  <>
    <AddressLines of={{ ...address, countryCode, name }} />
    {[address.phone, address.email].map((contact) => contact !== null && <div key={contact}>{contact}</div>)}
  </>
);
