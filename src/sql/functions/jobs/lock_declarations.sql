-- Held until the end of a transaction that changes which declarations live workers have, or which one is in force.
create or replace function holdfast_internal.lock_declarations() returns void
language sql as $$ select pg_advisory_xact_lock(hashtext('holdfast.declarations')) $$;
