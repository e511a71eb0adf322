/* SPDX-License-Identifier: Apache-2.0 */
/* irpa_rig.h - for tests of .irpa files: a text that is read as one. */
#ifndef TESTS_UNIT_IRPA_RIG_H
#define TESTS_UNIT_IRPA_RIG_H

#include "tests/unit/layouts_rig.h"

#include "formats/theta.h"

static inline qn_status
read_as(fixture *f, const char *data, size_t n, qn_archive_data *d)
{
	qn_archive_init(d, &f->arena, "IRPA", in_folder(f, "x.irpa"));
	return qn_irpa_read(d, data, n);
}

#endif
