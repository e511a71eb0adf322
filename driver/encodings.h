/* SPDX-License-Identifier: Apache-2.0 */
/* encodings.h - scales and zero points of a calibrated model as AIMET's encodings. */
#ifndef QN_DRIVER_ENCODINGS_H
#define QN_DRIVER_ENCODINGS_H

#include "ir/graph.h"

/* The text of the file. */
void qn_encodings_write(const qn_model *m, qn_buf *out);

#endif
