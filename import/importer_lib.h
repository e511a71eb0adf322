/* SPDX-License-Identifier: Apache-2.0 */
/* importer_lib.h - operators that are compositions (lib/lib.h).
 *
 *   const qn_lib_attr attr[] = {{"clip", qn_item_real(3)}};
 *   qn_id out[2] = {0};
 *   qn_importer_call(im, &(qn_lib_call){"lstm", 3, 2, in, 1, attr}, out) */
#ifndef QN_IMPORT_IMPORTER_LIB_H
#define QN_IMPORT_IMPORTER_LIB_H

#include "import/importer.h"
#include "lib/lib.h"

/* The nodes of a composition; false after a report. */
bool qn_importer_call(qn_importer *im, const qn_lib_call *call, qn_id *out);

#endif
