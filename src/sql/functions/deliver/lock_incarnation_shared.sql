create or replace function holdfast_internal.lock_incarnation_shared(incarnation integer) returns void
language sql as $$ select pg_advisory_xact_lock_shared(hashtext('holdfast.incarnation'), incarnation) $$;
