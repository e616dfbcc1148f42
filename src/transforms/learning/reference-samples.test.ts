import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { compileCaliper } from '../caliper/caliper-transform.ts'
import { sampleInput } from '../sample-input.ts'
import { compileXapi } from '../xapi/xapi-transform.ts'

/** Samples of what a platform's own transformers make. They are not part of the project: the test runs where they are at hand. */
const folder = new URL('../../../../shared/fixtures/learning-events/', import.meta.url)
const isThere = existsSync(folder)
const settings = {
  platformUrl: 'http://localhost:18000',
  actor: { from: 'map', map: { '*': '32e08e30-f8ae-4ce2-94a8-c2bfe38a70cb' } },
  courses: { from: 'map', map: { '*': 'Demonstration Course' } },
  ids: 'compatible',
} as const
const options = { readTable: async () => new Map<string, string>(), nowMs: () => 0 }
const formats = {
  xapi: compileXapi(settings, options),
  caliper: compileCaliper(settings, options),
}

const pairs = !isThere
  ? []
  : (['xapi', 'caliper'] as const).flatMap((format) =>
      readdirSync(new URL(`${format}/`, folder)).map((file) => [format, file] as const),
    )

describe.skipIf(!isThere)('the reference samples', () => {
  it.each(pairs)('%s %s', async (format, file) => {
    const body = readFileSync(new URL(`raw/${file}`, folder), 'utf8')
    if (file.includes('anonymous')) {
      expect(await formats[format].render(sampleInput(body))).toMatchObject({
        ok: false,
        error: { code: 'learning_anonymous' },
      })
      return
    }
    const wanted: unknown = JSON.parse(readFileSync(new URL(`${format}/${file}`, folder), 'utf8'))
    const made = await formats[format].items(sampleInput(body))
    const isOurOwn = format === 'caliper' ? ['id'] : []
    expect(made.map((each) => comparable(each, isOurOwn))).toEqual(
      [wanted].flat().map((each) => comparable(each, isOurOwn)),
    )
  })
})

/** Without the version of the transformer, and without what is random in the samples. */
function comparable(item: unknown, without: readonly string[]): unknown {
  const copy = JSON.parse(
    JSON.stringify(item, (name, value: unknown) => (/transformer-?version/i.test(name) ? undefined : value)),
  ) as Record<string, unknown>
  for (const name of without) delete copy[name]
  return copy
}
