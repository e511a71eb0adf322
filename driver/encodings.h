/* SPDX-License-Identifier: Apache-2.0 */
/* encodings.h - scales and zero points of a calibrated model as AIMET's encodings, and files of
 * them. */
#ifndef QN_DRIVER_ENCODINGS_H
#define QN_DRIVER_ENCODINGS_H

#include "calibrate/encodings.h"

/* The text of the file. */
typedef enum qn_encodings_version {
	QN_ENCODINGS_0, /* 0.6.1 */
	QN_ENCODINGS_1, /* 1.0.0 */
	QN_ENCODINGS_2  /* 2.0.0 */
} qn_encodings_version;
void qn_encodings_write(const qn_model *m, qn_encodings_version version, qn_buf *out);
/* Reads a file; *id: its base name and content, "encodings.json:1f0c3a55". */
qn_status qn_encodings_load(qn_env *env, const char *path, qn_arena *a, const char **id,
			    qn_encodings **out) QN_MUST_CHECK;

#endif
