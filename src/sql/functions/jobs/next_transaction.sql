-- The id of the transaction that starts next. A snapshot doesn't contain it: its xmax is one past the last transaction that ended, and others may
-- have started since. age() returns it modulo 2^32, as long as this transaction has no id of its own, and doesn't use one up.
create or replace function holdfast_internal.next_transaction(seen pg_snapshot) returns bigint
language sql volatile
return pg_snapshot_xmax(seen)::text::bigint + ((age('3'::xid)::bigint + 3 - pg_snapshot_xmax(seen)::text::bigint) & 4294967295);
