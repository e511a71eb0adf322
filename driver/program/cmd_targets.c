/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_targets.c - quern targets: what compile --target can be given; as text or as JSON
 * (docs/quern-targets.schema.json). */
#include <stdio.h>

#include "json_values.h"
#include "program.h"

static void
print_json(void)
{
	printf("{\"quern_targets\": 1, \"version\": \"%s\",\n  \"targets\": [", qn_version());
	for (size_t i = 0; qn_target_name(i) != NULL; i++) {
		printf("%s\n    {\"name\": ", i > 0 ? "," : "");
		json_text(stdout, qn_target_name(i));
		printf(", \"description\": ");
		json_text(stdout, qn_target_help(i));
		printf("}");
	}
	printf("\n  ]}\n");
}

int
cmd_targets(const options *o)
{
	if (o->json)
		print_json();
	for (size_t i = 0; !o->json && qn_target_name(i) != NULL; i++)
		printf("%-18s %s\n", qn_target_name(i), qn_target_help(i));
	return 0;
}
