import { type Static, Type } from "typebox";
import { expectedVersionField } from "../platform/wire/content-version.ts";
import { COUNTRY_CODE_FORM } from "../platform/wire/countries.ts";
import { nullable, shortText } from "../platform/wire/schemas.ts";

const TEXTS = {
  firstName: "First name of the recipient.",
  lastName: "Last name of the recipient.",
  name: "Full name of the recipient, to be printed instead of the first and the last name.",
  company: "Company of the recipient.",
  address1: "Street and number, or the first line of the address.",
  address2: "Second line of the address, such as an apartment.",
  city: "City or town.",
  zip: "Postal code, in the form of the country.",
  stateCode: "State or province, such as `CA` in the United States.",
  countryCode: "ISO 3166-1 country code of two letters.",
  phone: "Phone number for the carrier.",
} as const;

/** In a fixed order, which versions depend on. */
export const ADDRESS_FIELDS = Object.keys(TEXTS) as (keyof typeof TEXTS)[]; // Its own keys.

/** The columns of an address in a file, but for the two names, which a label does not need. */
export const LABEL_COLUMNS = [
  "name",
  "company",
  "address1",
  "address2",
  "city",
  "zip",
  "stateCode",
  "countryCode",
  "phone",
] as const satisfies readonly (keyof typeof TEXTS)[];

const nullableText = (description: string) =>
  nullable(Type.String(), `${description} Null if it was not sent.`);

/** The address of an order. */
export const AddressSchema = Type.Object(
  {
    firstName: Type.String({ description: TEXTS.firstName }),
    lastName: Type.String({ description: TEXTS.lastName }),
    name: Type.String({
      description: "Full name of the recipient, as it was sent. By default, the first and the last name.",
    }),
    company: nullableText(TEXTS.company),
    address1: Type.String({ description: TEXTS.address1 }),
    address2: nullableText(TEXTS.address2),
    city: Type.String({ description: TEXTS.city }),
    zip: Type.String({ description: TEXTS.zip }),
    stateCode: nullableText(TEXTS.stateCode),
    countryCode: Type.String({ description: `${TEXTS.countryCode} Always in upper case.`, examples: ["GB"] }),
    phone: nullableText(TEXTS.phone),
  },
  {
    title: "ShippingAddress",
    description:
      "The address that the order is shipped to. The merchant and the operator can correct it until something has shipped.",
  },
);

export const AddressRequestSchema = Type.Object(
  {
    firstName: shortText(TEXTS.firstName),
    lastName: shortText(TEXTS.lastName),
    address1: shortText(TEXTS.address1),
    city: shortText(TEXTS.city),
    zip: shortText(TEXTS.zip),
    countryCode: Type.String({
      // Whether it is assigned is checked with the products, so that a retry of an older order is still replayed.
      pattern: COUNTRY_CODE_FORM,
      description: `${TEXTS.countryCode} An assigned one, or \`XK\`. In upper or lower case.`,
      examples: ["GB"],
    }),
    stateCode: Type.Optional(shortText(TEXTS.stateCode)),
    address2: Type.Optional(shortText(TEXTS.address2)),
    company: Type.Optional(shortText(TEXTS.company)),
    phone: Type.Optional(shortText(TEXTS.phone)),
    name: Type.Optional(shortText(TEXTS.name)),
  },
  { title: "ShippingAddressRequest", description: "The address that the order is shipped to." },
);

const optionalText = (description: string) =>
  Type.Optional(nullable(shortText(description), `${description} Null removes it.`));

/** A correction of the address of an order (decision 0083). */
export const AddressUpdateSchema = Type.Object(
  {
    firstName: Type.Optional(shortText(TEXTS.firstName)),
    lastName: Type.Optional(shortText(TEXTS.lastName)),
    address1: Type.Optional(shortText(TEXTS.address1)),
    city: Type.Optional(shortText(TEXTS.city)),
    zip: Type.Optional(shortText(TEXTS.zip)),
    countryCode: Type.Optional(
      Type.String({
        format: "country-code",
        description: `${TEXTS.countryCode} An assigned one, or \`XK\`. In upper or lower case.`,
        examples: ["GB"],
      }),
    ),
    stateCode: optionalText(TEXTS.stateCode),
    address2: optionalText(TEXTS.address2),
    company: optionalText(TEXTS.company),
    phone: optionalText(TEXTS.phone),
    name: optionalText(TEXTS.name),
    expectedVersion: expectedVersionField("shippingAddressVersion"),
  },
  { title: "ShippingAddressUpdate", description: "Changes of an address. Absent fields keep their values." },
);
export type AddressUpdate = Static<typeof AddressUpdateSchema>;
