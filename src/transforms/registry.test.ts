import { describe, expect, it } from 'vitest'
import { noneTransform } from './none/none-transform.ts'
import { createTransformRegistry } from './registry.ts'
import { templateTransform } from './template/template-transform.ts'

const none = noneTransform()

describe('createTransformRegistry', () => {
  it('finds a transform by its name, and answers an unknown name with a result', () => {
    const registry = createTransformRegistry([none, templateTransform()])
    expect(registry.get('none')).toEqual({ isFound: true, transform: none })
    expect(registry.get('xslt')).toEqual({
      isFound: false,
      code: 'transform_unknown',
      message: 'There is no transform "xslt". Use one of: none, template.',
    })
  })

  it("compiles a route's transform by its type", () => {
    const registry = createTransformRegistry([none, templateTransform()])
    expect(registry.compile({ type: 'template', template: { a: 1 } }).isCacheable).toBe(true)
    for (const bad of [null, 'template', {}, { type: 7 }, { type: 'constructor' }])
      expect(() => registry.compile(bad)).toThrow(expect.objectContaining({ path: 'type' }))
  })

  it('refuses two transforms of one name', () => {
    expect(() => createTransformRegistry([none, none])).toThrow(/share a name/)
  })
})
