/* SPDX-License-Identifier: Apache-2.0 */
/* file_named.c - files that a file names: external data of ONNX, .safetensors and .npy of a JSON graph.  One rule for all.
 *
 *   weights/net.bin      below the model's folder: taken
 *   ../net.bin  /net.bin  a\net.bin  c:net.bin         refused by name
 *   net.bin -> ../blobs/12ab     taken where model.onnx -> ../blobs/34cd is such a link too, else refused
 *
 * So a model that somebody else wrote opens no file but those that came with it. */
#include <string.h>

#include "formats/disk.h"

/* Parts between '/' that are not empty and not "..". */
static bool
stays_below(const char *s)
{
	if (strpbrk(s, "\\:") != NULL)
		return false;
	for (;;) {
		const size_t n = strcspn(s, "/");

		if (n == 0 || (n == 2 && s[0] == '.' && s[1] == '.'))
			return false;
		if (s[n] == '\0')
			return true;
		s += n + 1;
	}
}

const char *
qn_path_named(qn_arena *a, const char *folder, const char *model, const char *name,
	      const char **wrong)
{
	const char *path = qn_path_join(a, folder, name);

	*wrong = !stays_below(name)
			 ? "the file must be in the model's folder or below: no absolute path, "
			   "no '..', no empty part, no '\\' or ':'"
		 : !qn_disk_came_along(folder, qn_path_join(a, folder, qn_path_base(model)), path)
			 ? "the link leads out of the model's folder; put the file "
			   "itself there"
			 : NULL;
	return *wrong == NULL ? path : NULL;
}
