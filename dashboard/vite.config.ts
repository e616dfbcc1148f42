import tailwindcss from '@tailwindcss/vite'
import { defineConfig } from 'vite'

export default defineConfig({
  // Relative: the page says by its <base> where it is served.
  base: './',
  publicDir: false,
  plugins: [tailwindcss()],
  build: {
    target: ['chrome111', 'firefox114', 'safari16.4'],
    assetsDir: 'assets/app',
    emptyOutDir: true,
    // Inlined images would need data: URLs and count twice.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    // The notices that the licences of bundled packages ask for, from what is really in the bundle.
    license: { fileName: 'THIRD-PARTY-NOTICES.md' },
    // Base UI marks its modules for servers that render React; there is none here.
    rolldownOptions: { checks: { moduleLevelDirective: false } },
  },
})
