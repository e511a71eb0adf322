/* SPDX-License-Identifier: Apache-2.0 */
/* stream.h - networks over a window of time as networks over a hop of it (docs/streaming.md).
 *
 *   qn_compile(m, &opts);
 *   qn_stream(m, "axis=1,hop=2");      the input [1,49,10,1] is [1,2,10,1] now, and states keep
 *                                      the other rows
 *   qn_emit(m, "out", &emit, NULL); */
#ifndef QUERN_STREAM_H
#define QUERN_STREAM_H

#include "quern/quern.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Makes a network over a hop of rows, with states, of one over a window of rows, at any stage; the
 * outputs are equal once the window is full, and those with rows have only the last ones.  text:
 * "[INPUT:]axis=A,hop=H[,window=NODE…]", the rows lie along axis A of the input, a run takes H of
 * them; NODE, of which there may be several, and what follows it are computed from the whole
 * window.  Samples of the window are cut into hops from then on.  Errors: stream.option,
 * stream.state, and for each node that cannot stream stream.op, stream.stride or stream.operand
 * (QN_EUNSUPPORTED); the model is as before then. */
QN_API qn_status qn_stream(qn_model *m, const char *text);
/* Whether the text is one for the model (stream.option, stream.state), before a compile that takes
 * long; NODE is not looked at. */
QN_API qn_status qn_stream_check(qn_model *m, const char *text);

#ifdef __cplusplus
}
#endif

#endif
