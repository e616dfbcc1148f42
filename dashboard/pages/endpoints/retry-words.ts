import type { Form } from '../../forms/draft.ts'
import { formatSpan } from '../../parts/numbers.ts'

const maxListed = 4

/** When the tries come, in words: `Waits up to 10 s, 20 s, 40 s … 5 min. The last try comes about 30 min after the first.` */
export function retryWords(form: Form): string | undefined {
  const number = (path: string): number => Number(form.rawAt(`retry.${path}`))
  const retries = number('maxRetries')
  const delays = delaysOf(form, retries, number('baseDelayMs'), number('maxDelayMs'), number('incrementMs'))
  if (!Number.isInteger(retries) || retries < 0 || delays.some((ms) => !(ms > 0))) return undefined
  if (retries === 0) return 'A delivery that fails is dead at once.'
  const listed = delays.slice(0, maxListed).map(formatSpan)
  const last = delays.at(-1) ?? 0
  const dots = delays.length > maxListed ? ` … ${formatSpan(last)}` : ''
  const isJittered = form.rawAt('retry.jitter') !== 'none'
  const sum = delays.reduce((one, other) => one + other, 0)
  return `Waits ${isJittered ? 'up to ' : ''}${listed.join(', ')}${dots}. The last try comes ${isJittered ? 'at most ' : ''}${formatSpan(sum)} after the first.`
}

function delaysOf(
  form: Form,
  retries: number,
  base: number,
  most: number,
  growth: number,
): readonly number[] {
  const strategy = form.rawAt('retry.strategy')
  const count = Math.min(Number.isInteger(retries) ? retries : 0, 1000)
  if (strategy === 'schedule') {
    const raw = form.rawAt('retry.delaysMs')
    const given = typeof raw === 'string' ? raw.split(',').map(Number) : []
    return Array.from({ length: count }, (_, place) => given[place] ?? given.at(-1) ?? Number.NaN)
  }
  return Array.from({ length: count }, (_, place) => {
    const grown =
      strategy === 'fixed' ? base : strategy === 'linear' ? base + place * growth : base * 2 ** place
    return Math.min(grown, most)
  })
}
