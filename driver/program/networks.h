/* SPDX-License-Identifier: Apache-2.0 */
/* networks.h - quern compile A B …: what several models need beside each one's files. */
#ifndef QN_PROGRAM_NETWORKS_H
#define QN_PROGRAM_NETWORKS_H

#include "program.h"

/* Options that belong to one model are a mistake: QN_EUSAGE after a message, else 0. */
int networks_check_options(const options *o);
/* Files of network i cannot stand beside those of the networks before it: QN_EUSAGE after a message. */
qn_status networks_check_name(const qn_emit_info *net, size_t i);
/* Writes networks.c and networks.h of n models that were emitted into the folder. */
qn_status networks_write(qn_ctx *ctx, const char *folder, const qn_emit_info *net, size_t n);

#endif
