#!/usr/bin/env node
import { controllerCommandLine } from './cli.ts';

process.exitCode = await controllerCommandLine();
