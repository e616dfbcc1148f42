-- Whether an answer with this status can be a success of this endpoint: `classify` in its config says so, or the status does. Index: endpoints_pkey.
create or replace function holdfast_internal.may_succeed(lane integer, status integer) returns boolean
language sql stable
return status between 200 and 299 or exists (
  select from holdfast_internal.endpoints as endpoint
  where endpoint.id = lane and 'success' in (endpoint.config -> 'classify' ->> status::text, endpoint.config -> 'classify' ->> concat(status / 100, 'xx')));
