import { speakerCommandLine } from './cli.ts';

process.exitCode = await speakerCommandLine();
