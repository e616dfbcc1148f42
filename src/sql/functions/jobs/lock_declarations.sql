-- Taken by transactions that change which declarations live workers have, or which one is in force; held until they end.
create or replace function holdfast_internal.lock_declarations() returns void
language sql as $$ select pg_advisory_xact_lock(hashtext('holdfast.declarations')) $$;
