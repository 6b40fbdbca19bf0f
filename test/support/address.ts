/** An address that every request accepts. */
export const ADDRESS = {
  firstName: "Ada",
  lastName: "Lovelace",
  address1: "12 St James Square",
  city: "London",
  zip: "SW1Y 4JH",
  countryCode: "GB",
};
