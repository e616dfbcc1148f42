-- Identifies the server start, and the copy of the database, that assigned ids belong to. A clean restart keeps the number. Every crash, failover to a standby and restore of a base backup
-- changes it, because PostgreSQL then resets its statistics; a restored dump changes it, because the sequence of ids is then another relation. Resetting statistics manually also changes it, which is harmless.
-- Rejected: an unlogged sequence, which these events reset. PostgreSQL 18 left it without its row on a standby that was promoted soon after it
-- was created there, and nothing could be published until the next restart.
create or replace function holdfast_internal.current_life() returns bigint
language sql stable as $$
  select hashint8extended((extract(epoch from pg_stat_get_bgwriter_stat_reset_time()) * 1000000)::bigint, 'holdfast_internal.ids'::regclass::oid::bigint)
         & 9223372036854775807
$$;
