-- Stores the requests and responses of successes that this incarnation has just recorded, for endpoints that capture all: [{id, attempt, detail}].
-- Index: attempts_pkey.
create or replace function holdfast_internal.record_details(me integer, details jsonb) returns void
language plpgsql as $$
declare
  given record;
begin
  for given in select * from jsonb_to_recordset(details) as one (id bigint, attempt integer, detail jsonb) loop
    update holdfast_internal.attempts as tried set detail = given.detail
    where tried.delivery_id = given.id and tried.attempt = given.attempt and tried.incarnation = me and tried.outcome is not distinct from 1;
  end loop;
end $$;
