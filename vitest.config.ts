import { defineConfig } from 'vitest/config';

/** Tests that make network namespaces or time a kernel run one file after another: two cores are not a cluster. */
const alone = { fileParallelism: false, maxWorkers: 1, testTimeout: 60_000, hookTimeout: 60_000 } as const;

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: 'unit',
          include: ['packages/*/src/**/*.test.ts', 'scripts/**/*.test.ts', 'bench/**/*.test.ts'],
          globalSetup: ['./test/kit/bundle-daemons.ts'],
          // Vitest would leave one processor to itself: on two cores all files would run one after another, and many of them wait.
          maxWorkers: '100%',
          testTimeout: 60_000,
          // Hooks make namespaces and start daemons here too.
          hookTimeout: 60_000,
        },
      },
      { test: { name: 'property', include: ['test/property/**/*.test.ts'], testTimeout: 120_000 } },
      { test: { name: 'interop', include: ['test/interop/**/*.test.ts'], ...alone } },
      { test: { name: 'e2e', include: ['test/e2e/**/*.test.ts'], ...alone } },
      { test: { name: 'compose', include: ['test/compose/**/*.test.ts'], ...alone, testTimeout: 180_000 } },
    ],
  },
});
