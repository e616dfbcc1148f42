/** Waits for the work, at most for the deadline. */
export async function withDeadline(work: Promise<void>, deadlineMs: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const expired = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, deadlineMs)
  })
  await Promise.race([work, expired])
  clearTimeout(timer)
}
