-- How many letters of a lane are open.
create or replace function holdfast_internal.open_letters_of(lane integer) returns bigint
language sql stable
return (select coalesce(sum(letters), 0)::bigint from holdfast_internal.counted_letters_of(lane) where state = 'open');
