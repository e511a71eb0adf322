/* SPDX-License-Identifier: Apache-2.0 */
/* kernel_args.h - the argument structs that `prepare` of an integer form returns.  The kernels have
 * a function qn_step where codegen has a type of that name; codegen calls no kernel. */
#ifndef QN_CODEGEN_KERNEL_ARGS_H
#define QN_CODEGEN_KERNEL_ARGS_H

#define qn_step qn_kernel_step
#include "runtime/form_args.h"
#undef qn_step

#endif
