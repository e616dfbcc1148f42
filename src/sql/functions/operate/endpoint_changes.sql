-- What a change of an endpoint's settings adds to the audit log. If the path becomes secret, the former path isn't recorded either.
create or replace function holdfast_internal.endpoint_changes(before holdfast_internal.endpoints, after holdfast_internal.endpoints) returns jsonb
language plpgsql stable as $$
begin
  if after.config -> 'secretPath' = 'true' and before.config -> 'secretPath' is distinct from 'true' then
    before.config := before.config || jsonb_build_object('url', holdfast_internal.shown_url(before.config || '{"secretPath": true}'));
  end if;
  return holdfast_internal.changes(holdfast_internal.endpoint_view(before), holdfast_internal.endpoint_view(after));
end $$;
