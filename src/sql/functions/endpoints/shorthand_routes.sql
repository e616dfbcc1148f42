-- The routes for an endpoint's eventTypes. Raises an error for an invalid pattern.
create or replace function holdfast_internal.shorthand_routes(endpoint_name text, preset text, event_types jsonb)
returns table (name text, event_type text, exact_type text, like_pattern text, segments integer, regex text, criticality smallint)
language plpgsql immutable as $$
declare
  given record;
  slug text;
begin
  for given in
    select each.text, min(each.position) - 1 as at from jsonb_array_elements_text(event_types) with ordinality as each (text, position)
    group by each.text order by 2
  loop
    select parsed.* into exact_type, like_pattern, segments, regex, slug from holdfast_internal.parse_event_type_pattern(given.text) as parsed;
    if slug is not null then
      perform holdfast_internal.refuse_endpoint(format('eventTypes[%s] %s', given.at, slug));
    end if;
    event_type := given.text;
    slug := endpoint_name || ':' || replace(replace(lower(given.text), '**', ':all'), '*', ':any');
    -- A pattern that doesn't fit in a name, or has capitals, is identified by its hash.
    name := case when given.text = lower(given.text) and length(slug) <= 127 then slug
      else left(slug, 114) || ':' || left(encode(sha256(convert_to(given.text, 'UTF8')), 'hex'), 12) end;
    criticality := case when preset = 'record-store'
      and (given.text in ('complete_video', 'edx.problem.completed') or given.text ~ '^edx[.](course[.](enrollment|grade)|completion)[.]') then 2 end;
    return next;
  end loop;
end $$;
