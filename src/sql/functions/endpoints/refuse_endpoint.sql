create or replace function holdfast_internal.refuse_endpoint(problem text) returns void
language plpgsql immutable as $$
begin
  raise exception 'the endpoint is invalid: %', problem using errcode = 'HF016', hint = 'Nothing was stored.';
end $$;
