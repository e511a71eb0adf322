/* SPDX-License-Identifier: Apache-2.0 */
/* program.h - what the commands of `quern` share.  The program uses nothing of the library but
 * quern/quern.h. */
#ifndef QN_PROGRAM_PROGRAM_H
#define QN_PROGRAM_PROGRAM_H

#include "options.h"

int cmd_compile(const options *o);
int cmd_run(const options *o);
int cmd_opt(const options *o);
int cmd_import(const options *o);
int cmd_export(const options *o);
int cmd_inspect(const options *o);
int cmd_supported_ops(const options *o);
int cmd_targets(const options *o);
int cmd_tensors(const options *o);
int cmd_convert(const options *o);
int cmd_quantize_tensor(const options *o);
int cmd_tokens(const options *o);
int cmd_man(const options *o);
int cmd_completion(const options *o);
int cmd_eval(const options *o);
int cmd_analyze(const options *o);
int cmd_validate(const options *o);
int cmd_tune(const options *o);
int cmd_match(const options *o);
int cmd_calibrate(const options *o);
int cmd_merge(const options *o);
int cmd_quantize(const options *o);

/* The name of the command that runs, for messages. */
extern const char *program_command;

/* A bar on stderr, where that is a terminal (progress.c). */
typedef struct progress_bar {
	bool wanted, drawn;
	const char *stage;
	uint64_t done;
	double begin, next; /* seconds: of the stage, when it is drawn next */
} progress_bar;

void progress_begin(progress_bar *p, bool quiet);
/* A qn_progress_fn; user: the bar. */
int progress_step(void *user, const char *stage, uint64_t done, uint64_t total);
/* Before other lines are written. */
void progress_clear(progress_bar *p);

/* A context that logs to stderr unless quiet; NULL after a message. */
qn_ctx *program_open(const options *o);

/* Prints all diagnostics on stderr, closes the context, and returns the exit code for status. */
int program_close(qn_ctx *ctx, qn_status status);

/* Prints the diagnostics that there are on stderr, and forgets them. */
void program_print_diagnostics(qn_ctx *ctx);

/* Whether both names lead to one file that is there. */
bool program_same_file(const char *a, const char *b);

/* The model of the command line, read as its options say. */
qn_status program_load_model(qn_ctx *ctx, const options *o, qn_model **out);
/* Warns that a language model is going to have activations of 8 bits, unless an option says something about them
 * (llm.activations). */
void program_warn_activations(const options *o, const qn_model *m);
/* Runs the passes, and makes a network over a hop of the result, where --stream says so; *window, unless NULL: what
 * it was made of. */
qn_status program_compile(const options *o, qn_model *m, const qn_compile_opts *opts,
			  qn_model_info *window);
/* Whether --stream, if given, fits the model, before what takes long. */
qn_status program_check_stream(const options *o, qn_model *m);
/* Makes a network over a hop of the model, where --stream says so: of commands that run no other passes. */
qn_status program_stream(const options *o, qn_model *m);
/* The one of --against: as its file is, --from-float is for the model alone. */
qn_status program_load_reference(qn_ctx *ctx, const options *o, qn_model **out);

/* Whether a path has this ending after a name. */
bool program_ends(const char *path, const char *end);
bool program_is_folder(const char *path);
/* Whether a folder, or one right in it, holds a .bin file. */
bool program_holds_bin(const char *path);
/* Whether a folder has the file PREFIXk.pb; its path is written to out, of size bytes. */
bool program_numbered(const char *folder, const char *prefix, size_t k, char *out, size_t size);

/* The folder of -o, and from which byte of its path on it was made here; 0: it was there. */
typedef struct output_folder {
	char path[4096];
	volatile size_t made; /* a handler of signals reads it */
} output_folder;

/* Makes the folder with its parents, before the work; a message when that cannot be. */
qn_status output_folder_make(const char *path, output_folder *f);
/* Removes what was made, after the work has failed. */
void output_folder_drop(output_folder *f);

/* What a signal that ends the program takes back: temporary files of the context, the folder as far
 * as it was made here. NULL: nothing. */
void signals_catch(void);
void signals_context(qn_ctx *ctx);
void signals_folder(output_folder *f);
/* The process group that ends with the program; 0: none. */
void signals_group(int pid);

/* Whether a model of this name is one that a context is given to: a language model, a .gguf or a folder. */
bool program_takes_context(const char *path);

/* Arrays of samples: one per file, or those of an .npz. */
typedef struct sample_list {
	qn_array *array[MAX_VALUES];
	const char *name[MAX_VALUES]; /* of its file, as it was given */
	char path[MAX_VALUES][1024];  /* of those that were given with options */
	size_t n;
	qn_array *next;              /* of a text: the token that follows each */
	bool used_shape, used_dtype; /* --shape or --dtype was for one of them */
} sample_list;

/* Opens [INPUT=]FILE[:OPTION=VALUE,…] arguments as these and the options of the command line say. */
qn_status program_load_samples(qn_ctx *ctx, const options *o, int n, const char *const *text,
			       sample_list *out);
/* The options of the command line that are for all samples; 2 after a message. */
qn_status program_check_sample_options(const options *o);
/* Those of them that no samples took are a mistake.  b: NULL when there are none. */
qn_status program_check_used(const options *o, const sample_list *a, const sample_list *b);
/* Ends a message: "; did you mean 'BEST'?" unless best is NULL, and the line. */
void program_suggest(const char *best);
/* QN_EUSAGE after "invalid value '…' (expected …)". */
qn_status program_bad_value(const char *option, const char *value, const char *expected);
#ifdef __clang_analyzer__ /* as in ir/diag.h */
#define program_bad_value(...) ((void)program_bad_value(__VA_ARGS__), QN_EUSAGE)
#endif
/* "65536", "64K" (64 times kilo), "5M"; kilo 1: neither K nor M.  0 where the option is not there; false after a
 * message. */
bool program_read_size(const char *option, const char *text, uint64_t least, uint64_t kilo,
		       uint64_t *out);
/* "0.5,0.25": numbers with commas between them, at most `most`; 2 after a message. */
qn_status program_read_list(const char *option, const char *text, size_t most, double *v,
			    size_t *n);

/* "3/8"; both 0 for NULL; false after a message. */
bool program_read_shard(const char *text, size_t *k, size_t *n);

/* Compile options from the command line; the samples are loaded. */
qn_status program_compile_opts(qn_ctx *ctx, const options *o, sample_list *calib,
			       qn_compile_opts *out);

/* Whether the options say where ranges come from: samples, statistics, or a method that needs
 * neither. */
bool program_has_ranges(const options *o);

/* Prints the list of passes on stdout. */
void program_list_passes(void);

int program_write_stdout(void *user, const char *text, size_t n);
int program_write_stderr(void *user, const char *text, size_t n);

#endif
