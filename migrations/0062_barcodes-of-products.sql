-- Barcodes of products (decision 0146). A warehouse scans what is printed on a product, which is seldom its SKU.

alter table products add column barcode text;
alter table products add constraint products_barcode_length check (char_length(barcode) between 1 and 100);
create unique index products_barcode_key on products (merchant_id, barcode) where barcode is not null;
comment on column products.barcode is 'What is printed on a unit of the product, as a scanner reads it. Null if it has none. A merchant''s products have different ones.';
