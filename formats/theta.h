/* SPDX-License-Identifier: Apache-2.0 */
/* theta.h - trees of named tensors in archives of plain arrays: planes as arrays of their own, and two
 * JSON texts (theta.c). */
#ifndef QN_FORMATS_THETA_H
#define QN_FORMATS_THETA_H

#include "formats/archive.h"

/* What such an archive holds besides the arrays. */
typedef struct qn_theta_texts {
	bool quantized;                /* a tensor has more than one plane, or a layout */
	const char *dataset, *tensors; /* properties; which arrays make up which tensor */
} qn_theta_texts;

/* d as plain arrays.  theta.name: names that do not make a tree, or planes that take another name. */
qn_status qn_theta_prepare(qn_env *env, qn_arena *a, const qn_archive_data *d, qn_archive_data *out,
			   qn_theta_texts *texts) QN_MUST_CHECK;
/* The tensors and properties of plain arrays, of which those named __SHARK_…__ are texts; arrays that
 * no tensor names are plain tensors.  theta.json, theta.tensor, theta.name, layout.…. */
qn_status qn_theta_fold(const qn_archive_data *raw, qn_archive_data *d) QN_MUST_CHECK;
/* Reports theta.name where one name is the beginning of another, up to a dot. */
qn_status qn_theta_check(qn_env *env, const qn_archive_data *d) QN_MUST_CHECK;

#endif
