create or replace function holdfast_internal.criticality_code(word text) returns smallint
language sql immutable parallel safe
return case word when 'best_effort' then 0 when 'standard' then 1 when 'critical' then 2 end;
