/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_targets.c - quern targets: what compile --target can be given. */
#include <stdio.h>

#include "program.h"

int
cmd_targets(const options *o)
{
	(void)o;
	for (size_t i = 0; qn_target_name(i) != NULL; i++)
		printf("%-18s %s\n", qn_target_name(i), qn_target_help(i));
	return 0;
}
