-- How many letters are open, in one lane or in all.
create or replace function holdfast_internal.open_letters(only_lane integer default null) returns bigint
language sql stable
return (select coalesce(sum(letters), 0)::bigint from holdfast_internal.counted_letters(only_lane) where state = 'open');
