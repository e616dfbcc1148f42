-- Unlogged, so that a crash, a failover to a standby and a restore from a backup reset it: while it is unused, nobody has drawn an id in this
-- life of the server (functions/publish/begin_life.sql). Its value is the number of the life, drawn at random.
create unlogged sequence holdfast_internal.server_life as bigint;
