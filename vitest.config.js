import { defineConfig } from 'vitest/config';
/** Namespaces, daemons and their sessions take their time, and a machine that is busy with other files takes more. */
const patient = { testTimeout: 60_000, hookTimeout: 60_000 };
/**
 * Each file has namespaces of its own and waits most of the time. So three of them run side by side on two processors: more
 * would make the daemons under test late.
 */
const sideBySide = { ...patient, maxWorkers: 3 };
/** Only one file at a time, with nothing else at work. */
const alone = { ...patient, fileParallelism: false, maxWorkers: 1 };
/** The bundles are what the labs run. */
const bundled = { globalSetup: ['./test/kit/bundle-daemons.ts'] };
const timed = '**/*.timed.test.ts';
const kernel = '**/*.kernel.test.ts';
const ofPackages = (end) => ['packages/*/src', 'scripts', 'bench', 'test/kit'].map((folder) => `${folder}/**/${end}`);
/**
 * Suites by what a test needs. `*.kernel.test.ts` asks the kernel, in namespaces of its own, or starts programs; `*.timed.test.ts`
 * measures time that a busy machine would stretch.
 */
export default defineConfig({
    test: {
        projects: [
            {
                test: {
                    name: 'unit',
                    include: ofPackages('*.test.ts'),
                    exclude: [kernel],
                    // Vitest would leave one processor to itself.
                    maxWorkers: '100%',
                    sequence: { groupOrder: 1 },
                    testTimeout: 60_000,
                },
            },
            {
                test: {
                    name: 'property',
                    include: ['test/property/**/*.test.ts'],
                    maxWorkers: '100%',
                    sequence: { groupOrder: 1 },
                    testTimeout: 120_000,
                },
            },
            {
                test: {
                    name: 'kernel',
                    include: ofPackages('*.kernel.test.ts'),
                    ...bundled,
                    ...sideBySide,
                    sequence: { groupOrder: 2 },
                },
            },
            ...['interop', 'e2e'].map((name) => ({
                test: {
                    name,
                    include: [`test/${name}/**/*.test.ts`],
                    exclude: [timed],
                    ...bundled,
                    ...sideBySide,
                    sequence: { groupOrder: 3 },
                },
            })),
            {
                test: {
                    name: 'timed',
                    include: [`test/{interop,e2e}/${timed}`],
                    ...bundled,
                    ...alone,
                    sequence: { groupOrder: 4 },
                },
            },
            {
                test: {
                    name: 'compose',
                    include: ['test/compose/**/*.test.ts'],
                    ...alone,
                    testTimeout: 180_000,
                    sequence: { groupOrder: 5 },
                },
            },
        ],
    },
});
