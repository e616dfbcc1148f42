-- NOTIFY, except in a transaction that may be prepared: PostgreSQL refuses PREPARE TRANSACTION after it. Where the server allows prepared transactions, only
-- sessions that have declared that they prepare none (holdfast.notifies) notify, as nodes, workers and SDKs do; rows of other sessions are found by
-- polling, within a tenth of a second.
create or replace function holdfast_internal.notify(channel text, payload text) returns void
language plpgsql as $$
begin
  if current_setting('max_prepared_transactions') = '0' or current_setting('holdfast.notifies', true) = 'on' then
    perform pg_notify(channel, payload);
  end if;
end $$;
