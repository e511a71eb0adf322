/* SPDX-License-Identifier: Apache-2.0 */
/* option_columns.h - what the rows of options_rows.c are written with: what an option fills, and sets of commands
 * that have it.
 *
 *   {"--name", 0, GROUP_OUTPUT, CMD_COMPILE, TEXT(name), …}      options.name */
#ifndef QN_PROGRAM_OPTION_COLUMNS_H
#define QN_PROGRAM_OPTION_COLUMNS_H

#include <stddef.h>

#include "options.h"

#define TEXT(member) .kind = OPT_TEXT, .offset = offsetof(options, member)
#define NAME(member) .kind = OPT_NAME, .offset = offsetof(options, member)
#define LIST(member)                                                                               \
	.kind = OPT_LIST, .offset = offsetof(options, member),                                     \
	.count_offset = offsetof(options, n##member)
#define COUNT(member) .kind = OPT_COUNT, .offset = offsetof(options, member)
#define FLAG(member) .kind = OPT_FLAG, .offset = offsetof(options, member)
#define CHOICE(member, list) .kind = OPT_CHOICE, .offset = offsetof(options, member), .choice = list

/* Commands that quantize a model; that read samples; that run passes; that read a model. */
#define QUANTIZING (CMD_COMPILE | CMD_OPT | CMD_EXPORT | CMD_EVAL | CMD_ANALYZE | CMD_CALIBRATE)
#define SAMPLING (QUANTIZING | CMD_RUN | CMD_TUNE)
#define READING_SAMPLES (SAMPLING | CMD_VALIDATE)
#define REPAIRING (CMD_COMPILE | CMD_OPT | CMD_EXPORT | CMD_EVAL | CMD_ANALYZE)
#define LOWERING (CMD_COMPILE | CMD_OPT)
#define READING (SAMPLING | CMD_IMPORT | CMD_INSPECT | CMD_MATCH | CMD_QUANTIZE)

#endif
