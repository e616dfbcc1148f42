create or replace function holdfast_internal.outcome_word(code smallint) returns text
language sql immutable parallel safe
return case code when 1 then 'success' when 2 then 'retryable' when 3 then 'permanent' when 4 then 'gone' when 5 then 'throttled' when 6 then 'interrupted'
                 when 10 then 'expired' when 11 then 'cancelled' when 12 then 'dropped'
                 when 13 then 'skipped' end;
