-- The transaction that begins next, which a snapshot doesn't tell: its xmax is one past the last to end, and others may have begun since. age()
-- tells it modulo 2^32, as long as this transaction has no id of its own, and doesn't use one up.
create or replace function holdfast_internal.next_transaction(seen pg_snapshot) returns bigint
language sql volatile
return pg_snapshot_xmax(seen)::text::bigint + ((age('3'::xid)::bigint + 3 - pg_snapshot_xmax(seen)::text::bigint) & 4294967295);
