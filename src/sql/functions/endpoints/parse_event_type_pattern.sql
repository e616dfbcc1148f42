-- A pattern of event types, in the columns that routes compare with (see src/core/routes/event-type-pattern.ts, which does the same for the API), or its
-- problem.
create or replace function holdfast_internal.parse_event_type_pattern(
  pattern text, out exact_type text, out like_pattern text, out segments integer, out regex text, out problem text
)
language plpgsql immutable as $$
declare
  parts text[] := string_to_array(pattern, '.');
  wildcards integer := (select count(*) from unnest(parts) as part where part in ('*', '**'));
begin
  problem := case
    when length(pattern) > 255 then 'is longer than 255 characters'
    when pattern like '-%' then 'must not begin with "-"'
    when wildcards > 16 then 'has more than 16 wildcards'
    when pattern ~ '(^|[.])([.]|$)' then 'has an empty segment: two dots in a row, or one at an end'
    when pattern ~ '[^.*][*]|[*][^.*]|[*]{3}'
      then 'has a "*" that is not a segment of its own; use "*" for one whole segment, "**" for one or more'
    when pattern ~ '[^A-Za-z0-9_.*-]' then 'has a character that no event type can have: use letters, digits, "_", "-" and dots'
  end;
  if problem is not null then
    return;
  end if;
  if wildcards = 0 then
    exact_type := pattern;
  elsif pattern !~ '[*]{2}' then
    like_pattern := regexp_replace(replace(pattern, '_', '\_'), '[*]', '%', 'g');
    segments := cardinality(parts);
  -- Unless single wildcards stand between names, or at an end, without a "**" beside them: LIKE can't count the segments there.
  elsif pattern !~ '(^|[^*][.])[*]([.][*])*([.][^*]|$)' then
    like_pattern := regexp_replace(replace(pattern, '_', '\_'), '[*]{1,2}', '%', 'g');
  else
    regex := '^' || (
      select string_agg(case part when '*' then '[^.]*' when '**' then '.*' else part end, '\.' order by position)
      from unnest(parts) with ordinality as each (part, position)) || '$';
  end if;
end $$;
