-- Whether a reservation is part of an approval, which the limit on reservations neither binds nor counts.
ALTER TABLE id_reservations ADD COLUMN is_exempt BOOLEAN NOT NULL DEFAULT FALSE;
