/* SPDX-License-Identifier: Apache-2.0 */
/* options.h - command lines as tables: each command is a row with its options, from which
 * parsing and --help follow. */
#ifndef QN_PROGRAM_OPTIONS_H
#define QN_PROGRAM_OPTIONS_H

#include <stdbool.h>

#include "quern/quern.h"

enum { MAX_VALUES = 16, MAX_ARGS = 4096, MAX_COUNT = 256, MAX_CHANNELS = 256 };

/* All options of all commands; a command uses those that its rows name. */
typedef struct options {
	const char *model;         /* first positional argument */
	const char *arg[MAX_ARGS]; /* the others */
	int narg;
	const char *output;          /* -o of commands with one result */
	const char *out[MAX_VALUES]; /* -o of run: one an output */
	int nout;
	const char *calib[MAX_VALUES];
	int ncalib;
	const char *data[MAX_VALUES];
	int ndata;
	const char *dim[MAX_VALUES]; /* of a model of another tool */
	int ndim;
	const char *value[MAX_VALUES]; /* INPUT=VALUE or INPUT=FILE.npy */
	int nvalue;
	const char *labels, *label_column, *against, *score, *top, *window;
	const char *target[MAX_VALUES];
	int ntarget;
	const char *min[MAX_VALUES], *max[MAX_VALUES]; /* METRIC=VALUE */
	int nmin, nmax;
	const char *shape, *dtype, *mean, *std, *layout, *input_scale, *input_zero; /* of samples */
	const char *name, *scheme, *method, *weight_method, *weights, *rounding;
	const char *activations, *weights_type, *skip, *recipe;
	const char *stats, *encodings, *encodings_version, *shard, *explain;
	const char *passes, *print_after, *stop_after, *emit, *self_test, *emit_target, *constants, *optimize,
		*min_accuracy, *max_scratch, *max_weights, *dot, *svg, *at;
	int align;       /* 0: not given */
	int limit;       /* times what a file may ask for; 0: 1 */
	int match_limit; /* times the steps of searches for patterns; 0: 1 */
	int threads;     /* 0: as many as the machine has cores */
	bool no_approx, merge_always, require_int, reduce_range;
	bool greedy, reassociate, trace_rules, explain_matches, proof, shared_kernels;
	bool from_float, real, sqnr, json, markdown, quiet, list_passes, help;
} options;

/* OPT_MAYBE: a number that may be left out, "--align" or "--align=12". */
typedef enum option_kind { OPT_TEXT, OPT_LIST, OPT_FLAG, OPT_COUNT, OPT_MAYBE } option_kind;

typedef struct option_row {
	const char *name; /* "--calib"; the short form is in `letter` */
	char letter;      /* 'o' for -o, 0: none */
	option_kind kind;
	size_t offset; /* of a const char *, of a const char *[MAX_VALUES], of a bool or of an int in options */
	size_t count_offset; /* OPT_LIST: of the int that counts */
	const char *value;   /* "FILE.npy" in the help; NULL for flags */
	const char *help;
} option_row;

typedef struct command {
	const char *name;
	const char *synopsis; /* after "quern NAME" */
	const char *summary;  /* one line */
	const char *about;    /* paragraphs of the --help text, example included */
	int min_args, max_args;
	const option_row *option;
	int (*run)(const options *o); /* the exit code */
} command;

/* The option rows, in options_rows.c; each list ends with a row whose name is NULL. */
extern const option_row compile_options[], run_options[], opt_options[], import_options[],
	export_options[], inspect_options[], eval_options[], match_options[], calibrate_options[],
	merge_options[], quantize_options[], supported_options[], targets_options[];

/* Fills *o; 0, or 2 after a message on stderr. */
int options_parse(const command *c, int argc, char **argv, options *o);

/* The help text of a command, on stdout. */
void options_help(const command *c);

#endif
