-- Whether a row with this transaction id was visible, in this version, under a snapshot. Row headers contain the low half of it only.
-- `top` is the snapshot's xmax, `bottom_age` the age of its xmin: older transactions had ended before. One expression, so that it is inlined: as a
-- query of its own it cost 30 µs a row.
create or replace function holdfast_internal.was_visible(row_xid xid, as_of pg_snapshot, top bigint, bottom_age integer) returns boolean
language sql stable parallel safe
return age(row_xid) > bottom_age or pg_visible_in_snapshot(
  greatest(3, top - (((top & 4294967295) - row_xid::text::bigint + 6442450944) & 4294967295) + 2147483648)::text::xid8, as_of
);
