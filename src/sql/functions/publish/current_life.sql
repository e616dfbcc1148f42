-- The number of the server's life. A clean restart goes on with the same one; every crash, failover to a standby and restore from a backup begins another,
-- because PostgreSQL then drops its statistics. Whoever resets them by hand begins another, too, which does no harm.
-- Rejected: an unlogged sequence, which these events reset. PostgreSQL 18 left it without its row on a standby that was promoted soon after it
-- was created there, and nothing could be published until the next restart.
create or replace function holdfast_internal.current_life() returns bigint
language sql stable as $$
  select (extract(epoch from pg_stat_get_bgwriter_stat_reset_time()) * 1000000)::bigint
$$;
