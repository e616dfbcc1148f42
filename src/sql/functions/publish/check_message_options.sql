-- Refuses invalid options, naming the message's position, before anything is stored. `message_options` has one entry (or null) per message.
create or replace function holdfast_internal.check_message_options(message_options jsonb[]) returns void
language plpgsql stable as $$
declare
  bad record;
begin
  select at, problem into bad
  from unnest(message_options) with ordinality as given (option, at), holdfast_internal.option_problem(option) as problem
  where option is not null and problem is not null
  order by at limit 1;
  if found then
    raise exception 'message %: %', bad.at, bad.problem using errcode = 'HF002';
  end if;
end $$;
