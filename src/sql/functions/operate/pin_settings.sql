-- Settings that a node was given from outside the database: [{name, value, source}]. The values apply to the whole cluster, and can't be changed elsewhere while the node is alive.
-- The node that started last wins; its values stay in force when the pin is removed.
create or replace function holdfast_internal.pin_settings(me integer, pins jsonb) returns void
language plpgsql as $$
declare
  pin record;
  fallback jsonb;
begin
  perform pg_advisory_xact_lock(hashtext('holdfast.settings'));
  for pin in select * from jsonb_to_recordset(pins) as given (name text, value jsonb, source text) loop
    fallback := (select known.fallback from holdfast_internal.known_settings() as known where known.name = pin.name);
    perform holdfast_internal.assert_setting(pin.name, pin.value);
    perform holdfast_internal.write_setting(pin.name, case when jsonb_typeof(pin.value) = 'object' then fallback || pin.value else pin.value end,
                                            'node:' || (select name from holdfast_internal.nodes where incarnation = me), pin.source);
    insert into holdfast_internal.setting_pins (incarnation, name, source) values (me, pin.name, pin.source)
    on conflict (incarnation, name) do update set source = excluded.source;
  end loop;
end $$;
