const days = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday']

const pad = (text: string): string => text.padStart(2, '0')
const isNumber = (text: string): boolean => /^\d+$/.test(text)

/** A cron expression in words where it is one of the usual ones; null where words would be longer than the expression. */
export function cronWords(cron: string): string | null {
  const parts = cron.trim().split(/\s+/)
  const [minute = '', hour = '', day = '', month = '', weekday = ''] =
    parts.length === 6 ? parts.slice(1) : parts
  if (parts.length === 6 && parts[0] !== '0') {
    const seconds = /^\*\/(\d+)$/.exec(parts[0] ?? '')
    return seconds !== null && parts.slice(1).every((part) => part === '*')
      ? `Every ${seconds[1]} seconds`
      : null
  }
  const every = /^\*\/(\d+)$/.exec(minute)
  if (every !== null && hour === '*' && day === '*' && month === '*' && weekday === '*')
    return `Every ${every[1]} minutes`
  if (minute === '*' && hour === '*' && day === '*' && month === '*' && weekday === '*') return 'Every minute'
  if (!isNumber(minute)) return null
  if (hour === '*' && day === '*' && month === '*' && weekday === '*')
    return `Every hour at minute ${Number(minute)}`
  if (!isNumber(hour) || month !== '*') return null
  const time = `${pad(hour)}:${pad(minute)}`
  if (day === '*' && weekday === '*') return `Every day at ${time}`
  if (day === '*' && weekday === '1-5') return `Monday to Friday at ${time}`
  if (day === '*' && isNumber(weekday)) return `Every ${days[Number(weekday) % 7] ?? ''} at ${time}`
  if (isNumber(day) && weekday === '*') return `On day ${day} of every month at ${time}`
  return null
}
