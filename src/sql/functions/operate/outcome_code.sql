create or replace function holdfast_internal.outcome_code(word text) returns smallint
language sql immutable parallel safe
return case word when 'success' then 1 when 'retryable' then 2 when 'permanent' then 3 when 'gone' then 4 when 'throttled' then 5 when 'interrupted' then 6
                 when 'expired' then 10 when 'cancelled' then 11 when 'dropped' then 12
                 when 'skipped' then 13 end;
