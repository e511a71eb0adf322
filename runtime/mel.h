/* SPDX-License-Identifier: Apache-2.0 */
/* mel.h - what the features of sound, log_mel and mfcc, are made of: window, Fourier transform and mel bands, in
 * double.  The float implementation computes with them; the tables of the integer one are these numbers, rounded.
 *
 *   mel(f) = 1127 ln(1 + f / 700)         band b: center(b - 1) < mel(f) <= center(b), b = 0 … channels
 *   center(b) = mel(low) + (b + 1) (mel(high) - mel(low)) / (channels + 1)
 *
 * Of a bin in band b, channel b has the part 1 - slope and channel b - 1 the part slope, the distance to center(b)
 * in units of the band's width.  log_mel leaves out bins as TFLite Micro's microfrontend does, and its window
 * is that of half samples; those of mfcc are TensorFlow's (tf.signal). */
#ifndef QN_RUNTIME_MEL_H
#define QN_RUNTIME_MEL_H

#include "ir/graph.h"

typedef struct qn_mel {
	int64_t window, hop, channels, fft; /* fft: a power of 2, not below window */
	int64_t samples, frames;            /* of a row of the data */
	int64_t mirror;                     /* sample n of the window is that at mirror - n */
	const double *shape;                /* the window, Hann's: [window] */
	const int64_t *bin;  /* [channels + 2]: band b has bins bin[b] … bin[b + 1] - 1 */
	const double *slope; /* of bins bin[0] … */
} qn_mel;

/* Of a node log_mel or mfcc with static shapes. */
qn_mel *qn_mel_of(const qn_graph *g, const qn_node *n, qn_arena *a);
/* [2 fft]: the cosines of one turn, then its sines. */
const double *qn_mel_turn(const qn_mel *m, qn_arena *a);
/* Squared magnitudes |X|^2 of the bins below fft / 2, for the windowed samples x * unit;
 * work: 2 fft numbers. */
void qn_mel_energies(const qn_mel *m, const float *x, double unit, const double *turn, double *work,
		     double *energy);

#endif
