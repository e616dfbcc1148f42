-- The life of the server for which ids were prepared last; functions/publish/current_life.sql says which one it is in. Logged: an unlogged sequence
-- may have lost its row when a standby is promoted.
drop sequence holdfast_internal.server_life;
create sequence holdfast_internal.server_life as bigint minvalue 0;
