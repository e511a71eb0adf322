/* SPDX-License-Identifier: Apache-2.0 */
/* quern.h - libquern, a quantizing graph compiler: all that most hosts need.
 *
 *   qn_ctx *ctx = qn_open(NULL);
 *   qn_model *m;
 *   qn_array *calib;
 *   qn_compile_opts opts = {0};
 *
 *   if (qn_load(ctx, "model.json", &m) == QN_OK &&
 *       qn_array_load(ctx, "calib.npy", &calib) == QN_OK) {
 *           opts.calib = &calib;
 *           opts.ncalib = 1;
 *           if (qn_compile(m, &opts) == QN_OK)        float -> integer
 *                   qn_emit(m, "out", NULL, NULL);    NAME.c, NAME.h, NAME_weights.c …
 *   }
 *   for (size_t i = 0; i < qn_diag_count(ctx); i++) …qn_diag_get(ctx, i)…
 *   qn_close(ctx);                                     frees everything that came from it
 *
 * This header only includes those of the subjects above, each of which compiles alone:
 *
 *   quern/context.h     contexts: status, callbacks, limits, diagnostics, files
 *   quern/model.h       reading, describing and writing models
 *   quern/samples.h     arrays and samples
 *   quern/compile.h     storage of values, options of a compile, passes
 *   quern/emit.h        C code, budgets, plans of memory and steps
 *
 * The other subjects are for hosts that want more.  Each includes this header:
 *
 *   quern/calibrate.h   statistics in parts, calibration callbacks, the methods
 *   quern/measure.h     running a model, accuracy, labels, noise of quantization
 *   quern/stream.h      networks over a window as networks over a hop
 *   quern/tune.h        searching for a recipe within budgets
 *   quern/graph.h       building a graph value by value, reading one, the table of operators
 *   quern/patterns.h    patterns over graphs, rewrite rules, partitions, quantizer patterns
 *   quern/host_ops.h    operators that the host defines
 *   quern/kernels.h     kernels that the host defines for operators of Quern
 *   quern/layout.h      quantized tensors as named planes, packed forms, quantizers
 *   quern/tokens.h      tokens of language models
 *
 * Every function returns a status unless its comment says otherwise.  What went wrong is in the
 * diagnostics of the context, each with a stable id, a place, and a message with the value and
 * what to do.  Nothing exits, prints or keeps global state.
 *
 * NULL: a pointer may be NULL where its comment says what that means, and so may `user`, options
 * (the defaults), lists of length 0 and what is freed.  Any other that is NULL is refused before
 * the call does anything: QN_EUSAGE (array.null), the name of the argument as the place.  A
 * function that returns a value instead of a status returns NULL, 0 or a struct of zeros then (""
 * or another where its comment says so), and one that returns nothing does nothing.  Where the
 * context is NULL, or the handle that belongs to it, there is nothing to report to.
 *
 * Threads: a context and everything that came from it are used by one thread at a time; contexts
 * are independent of each other.  The threads of a context (qn_config.threads) wait between calls
 * and end with qn_close; they call the host's allocator one at a time and block all signals.  A
 * process made by fork opens contexts of its own.  The floating-point environment is set to the
 * default during a call and restored.
 *
 * Binary interface: a program that was built with the headers of release 0.N runs with every
 * library 0.N.x (the shared library's name has both numbers).  Structs that the host fills and
 * that may grow begin with `size`: sizeof the struct as the host compiled it; 0 stands for the
 * members of release 0.1, so `= {0}` is always right.  New members come after all others and 0
 * means what was before.  The library takes members that the host does not have as 0, and refuses
 * a struct that is larger than its own where a byte that it does not know is not 0 (QN_EUSAGE,
 * struct.size).  In an array of such structs every element says its size, unless there is only
 * one.  What the library fills and passes by pointer may grow too, and has a `size` where the
 * host stores it.  All other structs are frozen: what comes later gets functions or structs of
 * its own.  Enumerators keep their numbers. */
#ifndef QUERN_H
#define QUERN_H

#include "quern/compile.h"
#include "quern/context.h"
#include "quern/emit.h"
#include "quern/model.h"
#include "quern/samples.h"
#endif
