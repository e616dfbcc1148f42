import { Unavailable } from '../harness/row.ts'
import type { Contender } from './contender.ts'

export const holdfast: Contender = {
  name: 'holdfast',
  open() {
    return Promise.reject(new Unavailable('the engine is not connected to this benchmark yet'))
  },
}
