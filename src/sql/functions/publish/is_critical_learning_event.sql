-- Events of learning platforms that certificates, seats and invoices depend on: enrolments, completions, and passed or failed courses. The same list
-- as in src/core/routes/critical-learning-events.ts.
create or replace function holdfast_internal.is_critical_learning_event(type text) returns boolean
language sql immutable parallel safe
return type in ('complete_video', 'edx.problem.completed') or starts_with(type, 'edx.course.enrollment.') or starts_with(type, 'edx.course.grade.')
  or starts_with(type, 'edx.completion.');
