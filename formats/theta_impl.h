/* SPDX-License-Identifier: Apache-2.0 */
/* theta_impl.h - names that the reader and the writer of trees of tensors share. */
#ifndef QN_FORMATS_THETA_IMPL_H
#define QN_FORMATS_THETA_IMPL_H

#include "formats/theta.h"

extern const char qn_theta_version[], qn_theta_types_key[]; /* keys of the properties' text */
extern const char qn_theta_plain[], qn_theta_planar[];      /* values of type_name */

#endif
