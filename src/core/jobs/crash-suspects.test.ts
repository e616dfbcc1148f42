import { expect, it } from 'vitest'
import { suspectTreatment } from './crash-suspects.ts'

it('lets a suspect go on after one crash, sends it alone after two and buries it after three', () => {
  expect([0, 1, 2, 3, 4].map(suspectTreatment)).toEqual(['normal', 'normal', 'alone', 'dead', 'dead'])
})
