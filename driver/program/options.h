/* SPDX-License-Identifier: Apache-2.0 */
/* options.h - command lines as tables: one row for each command and one for each option, from which
 * parsing, --help, the manual pages and the completions of shells follow. */
#ifndef QN_PROGRAM_OPTIONS_H
#define QN_PROGRAM_OPTIONS_H

#include <stdbool.h>
#include <stdio.h>

#include "quern/quern.h"

enum {
	MAX_VALUES = 64 /* as a message says */,
	MAX_ARGS = 4096,
	MAX_COUNT = 256,
	MAX_CHANNELS = 256
};

/* How samples are read (data.md): those of the command, or of one source, "FILE:mean=0.5,std=0.25". */
typedef struct sample_options {
	const char *shape, *dtype, *mean, *std, *input_scale, *input_zero;
	int layout; /* as options.scheme */
} sample_options;

/* All options of all commands; a command uses those whose rows name it. */
typedef struct options {
	const char *model;         /* first positional argument */
	const char *arg[MAX_ARGS]; /* the others */
	int narg;
	const char *output;          /* -o of commands with one result */
	const char *out[MAX_VALUES]; /* -o of run: one per output */
	int nout;
	const char *calib[MAX_VALUES];
	int ncalib;
	const char *data[MAX_VALUES];
	int ndata;
	const char *dim[MAX_VALUES]; /* of a model of another tool */
	int ndim;
	const char *value[MAX_VALUES]; /* INPUT=VALUE or INPUT=FILE.npy */
	int nvalue;
	const char *tie[MAX_VALUES]; /* OUTPUT=INPUT */
	int ntie;
	const char *cut[MAX_VALUES]; /* values that are the outputs */
	int ncut;
	const char *lib[MAX_VALUES]; /* files of compositions */
	int nlib;
	const char *front_end, *stream;
	const char *labels, *label_column, *against, *score, *top, *window;
	const char *target[MAX_VALUES];
	int ntarget;
	const char *min[MAX_VALUES], *max[MAX_VALUES]; /* METRIC=VALUE */
	int nmin, nmax;
	sample_options sample;
	const char *quantizing; /* an option that says how to quantize; NULL: there is none */
	const char *name, *method, *skip, *recipe, *dynamic, *stats, *encodings, *shard, *explain,
		*passes, *print_after, *stop_after, *self_test, *emit_target, *min_accuracy,
		*max_arena, *max_weights, *max_ram, *max_instructions, *time, *metric, *optimize,
		*constants, *dot, *svg, *html, *at, *device, *dump, *plane, *to, *type, *scale,
		*offset, *axis, *quant_params;
	/* OPT_CHOICE: 1 + the index in the option's choices; 0: not given (option_index) */
	int scheme, weights, weight_method, weight_rounding, activations, weights_type, rounding,
		solver, explain_kernels, emit, format, encodings_version, minimize;
	int align;        /* 0: not given */
	int weight_block; /* 0: not given */
	int limit;        /* factor of the limits of a file; 0: 1 */
	int time_limit;   /* seconds; 0: 60 */
	int match_limit;  /* times the steps of searches for patterns; 0: 1 */
	int context;      /* tokens that a language model remembers; 0: the default */
	int sequence;     /* steps; 0: all samples */
	int threads;      /* 0: as many as the machine has cores */
	int block;        /* elements that share a scale; 0: not given */
	int split;        /* parts of each tensor; 0: not given */
	int jobs;         /* processes of tune; 0: 1 */
	bool no_repairs, allow_i16, no_saturation;
	bool no_approx, merge_always, require_int, reduce_range, bias_correction, equalize,
		narrow_ranges, inline_bodies;
	bool expand_blocks, collapse_scales, lax_zp, greedy, reassociate, trace_rules,
		explain_matches, proof, shared_kernels, validation;
	bool from_float, real, trace_ops, sqnr, json, markdown, quiet, list_passes, help;
} options;

/* The choice that was made; the first is the default. */
static inline int
option_index(int stored)
{
	return stored > 0 ? stored - 1 : 0;
}

/* Commands, as bits of option_row.commands. */
enum {
	CMD_COMPILE = 1 << 0,
	CMD_RUN = 1 << 1,
	CMD_EVAL = 1 << 2,
	CMD_CALIBRATE = 1 << 3,
	CMD_MERGE = 1 << 4,
	CMD_OPT = 1 << 5,
	CMD_IMPORT = 1 << 6,
	CMD_EXPORT = 1 << 7,
	CMD_INSPECT = 1 << 8,
	CMD_MATCH = 1 << 9,
	CMD_QUANTIZE = 1 << 10,
	CMD_SUPPORTED = 1 << 11,
	CMD_ANALYZE = 1 << 12,
	CMD_VALIDATE = 1 << 14,
	CMD_TUNE = 1 << 15,
	CMD_TENSORS = 1 << 16,
	CMD_CONVERT = 1 << 17,
	CMD_QUANTIZE_TENSOR = 1 << 18,
	CMD_TOKENS = 1 << 19,
	CMD_TARGETS = 1 << 20,
	CMD_GENERAL = 1 << 13 /* commands that have the general options alone */
};

/* Subjects, in the order in which --help prints them. */
typedef enum option_group {
	GROUP_CALIBRATION,
	GROUP_SAMPLES,
	GROUP_EVALUATION,
	GROUP_QUANTIZATION,
	GROUP_BUDGETS,
	GROUP_OUTPUT,
	GROUP_MODEL,
	GROUP_MATCHING,
	GROUP_DEBUGGING,
	GROUP_GENERAL,
	NGROUP
} option_group;

typedef enum option_kind {
	OPT_TEXT,
	OPT_LIST, /* may be given MAX_VALUES times */
	OPT_FLAG,
	OPT_COUNT,  /* 1 to MAX_COUNT */
	OPT_MAYBE,  /* "--align", "--align=12", "--align=fixed-point:12" or "--align=tflite", 0 */
	OPT_CHOICE, /* one of `choice`; its index and 1 is stored */
	OPT_NAME,   /* one of `choice` or of the names of `name_of`; the word is stored */
} option_kind;

/* A value of an option; lists end with {NULL}. */
typedef struct option_choice {
	const char *word, *also; /* `also`: another spelling that is accepted, or NULL */
	const char *help;
} option_choice;

typedef struct option_row {
	const char *name; /* "--calib"; the short form is in `letter` */
	char letter;      /* 'o' for -o, 0: none */
	option_group group;
	unsigned commands; /* CMD_… bits; general options are those of every command */
	option_kind kind;
	size_t offset; /* of a const char *, of a const char *[MAX_VALUES], of a bool or of an int in options */
	size_t count_offset;         /* OPT_LIST: of the int that counts */
	int most;                    /* OPT_COUNT: the largest number; 0: MAX_COUNT */
	const char *value;           /* "FILE.npy" in the help; NULL for flags */
	const char *help;            /* two lines at most (tests/cli/help.sh) */
	const option_choice *choice; /* OPT_CHOICE, OPT_NAME; NULL: name_of */
	const char *(*name_of)(
		size_t);   /* words that it takes or that begin its value, up to NULL */
	const char *names; /* the heading of a list of them in --help; NULL: none */
	const char *(*name_help)(size_t); /* one line each, for that list */
} option_row;

/* The table of options (options_rows.c); ends with a row whose name is NULL. */
extern const option_row option_rows[];

typedef struct command {
	const char *name;
	unsigned bit;         /* CMD_… */
	const char *synopsis; /* after "quern NAME"; other forms after a line feed */
	const char *summary;  /* one line */
	const char *about;    /* paragraphs, with empty lines between them */
	const char *example;  /* command lines */
	int min_args, max_args;
	int (*run)(const options *o); /* the exit code */
} command;

/* The table of commands (commands.c); ends with a row whose name is NULL. */
extern const command command_rows[];

/* The first option of the command at or after *r; NULL: there is no other. */
const option_row *option_next(const command *c, const option_row *r);
/* The row of this name, or NULL. */
const command *command_find(const char *name);
/* QN_EUSAGE after a message with the nearest name. */
int command_unknown(const char *name);

/* The exit codes of the program; ends with a meaning of NULL. */
typedef struct exit_code {
	int code;
	const char *meaning;
} exit_code;

extern const exit_code exit_codes[];
/* The heading of a group. */
const char *option_group_name(option_group g);

/* Fills *o; 0, or 2 after a message on stderr. */
int options_parse(const command *c, int argc, char **argv, options *o);

/* The i-th word that an option takes, NULL after the last one. */
const char *option_word(const option_row *r, size_t i);

/* Texts of --help; a command's on stdout. */
void help_command(const command *c);
void help_program(FILE *to);

#endif
