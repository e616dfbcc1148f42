/** Events of learning platforms on which certificates, seats and invoices depend: enrolments, and completed, passed or failed courses. */
const criticalBeginnings = ['edx.course.enrollment.', 'edx.course.grade.', 'edx.completion.']
const criticalNames = ['complete_video', 'edx.problem.completed']

/** Whether a pattern matches only such events. @example isCriticalLearningPattern('edx.course.enrollment.*') // true */
export function isCriticalLearningPattern(pattern: string): boolean {
  return (
    criticalNames.includes(pattern) || criticalBeginnings.some((beginning) => pattern.startsWith(beginning))
  )
}
