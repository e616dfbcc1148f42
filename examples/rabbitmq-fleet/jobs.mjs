import { setTimeout as wait } from 'node:timers/promises'
import { defineJob } from 'holdfast'

/** What both workers execute. */
export const resize = defineJob({
  name: 'resize-image',
  queue: 'images',
  retry: { strategy: 'fixed', baseDelayMs: 100, jitter: 'none' },
  run: async ({ image }, { attempt }) => {
    if (image % 10 === 0 && attempt === 1) throw new Error('the image server is busy')
    await wait(20)
    return { image, width: 640 }
  },
})
