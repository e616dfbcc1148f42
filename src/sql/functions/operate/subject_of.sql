-- The name of an endpoint in the audit log.
create or replace function holdfast_internal.subject_of(lane integer) returns text
language sql stable as $$ select coalesce((select 'endpoint:' || name from holdfast_internal.endpoints where id = lane), 'lane:' || lane) $$;
