/** Events of learning platforms that certificates, seats and invoices depend on: enrolments, and completed, passed or failed courses. */
const criticalBeginnings = ['edx.course.enrollment.', 'edx.course.grade.', 'edx.completion.']
const criticalNames = ['complete_video', 'edx.problem.completed']

/** Whether a pattern means such events and no others. @example isCriticalLearningPattern('edx.course.enrollment.*') // true */
export function isCriticalLearningPattern(pattern: string): boolean {
  return (
    criticalNames.includes(pattern) || criticalBeginnings.some((beginning) => pattern.startsWith(beginning))
  )
}
